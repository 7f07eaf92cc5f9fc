// Where listeners listen: addresses that two of them claim, and what the command line says.
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

struct PlacedAddress {
  std::string listener;
  net::Address address;
  std::optional<text::Mark> at{};  // in the file; none: it is a default
};

// Pairs that claim the same connections, the earlier one first. The system would not find them: with SO_REUSEPORT it
// gives each a part of the connections.
[[nodiscard]] std::vector<std::pair<PlacedAddress, PlacedAddress>> overlaps(const std::vector<PlacedAddress>& all);

// Counts before weir.yaml; all else about a listener (certificates, tokens, bounds) stays as weir.yaml has it.
struct ListenerFlags {
  std::map<std::string, std::string> listen{};  // by name, an address, or `off`
  bool exposed = false;  // the listeners that are placed here may be reached by others without certificate or token
};

// An error says which flag is wrong, by itself or beside what weir.yaml says.
[[nodiscard]] Result<void> apply(const ListenerFlags& flags, Config& config);

}  // namespace weir::server
