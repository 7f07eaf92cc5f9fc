// The addresses of listeners: overlaps, and overrides on the command line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/address.h"
#include "server/config.h"
#include "text/yaml/problem.h"
#include "weir/result.h"

namespace weir::server {

struct ListenerAddress {
  std::string listener;
  net::Address address;
  std::optional<text::Mark> at{};  // position in the file; none: a default
};

// Returns the pairs of addresses that overlap, the earlier one first. The system does not report them: with
// SO_REUSEPORT each gets a part of the connections.
[[nodiscard]] std::vector<std::pair<ListenerAddress, ListenerAddress>> overlaps(
    const std::vector<ListenerAddress>& all);

// Overrides the addresses in weir.yaml. Other settings of a listener (certificates, tokens, bounds) stay.
struct ListenerFlags {
  std::map<std::string, std::string> listen{};  // name to address, or `off`
  bool exposed = false;                         // allows unauthenticated access to the listeners in `listen`
};

// An error names the flag that is invalid, alone or together with weir.yaml.
[[nodiscard]] Result<void> apply(const ListenerFlags& flags, Config& config);

}  // namespace weir::server
