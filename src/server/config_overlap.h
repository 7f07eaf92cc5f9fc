// The addresses of all doors, to find those that two of them claim. The system would not: with SO_REUSEPORT it gives
// every claimant a part of the connections.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "policy/mark.h"
#include "policy/problem.h"
#include "server/config.h"

namespace weir::server {

class Listenings {
 public:
  void add(std::string_view door, const net::Address& address, policy::Mark at) { all_.push_back({door, address, at}); }
  void add_default(std::string_view door, const net::Address& address) { all_.push_back({door, address, {}}); }

  void report_overlaps(policy::Problems& problems) const;

 private:
  struct Listening {
    std::string_view door;
    net::Address address;
    std::optional<policy::Mark> at;  // none: a default
  };

  static void report(const Listening& listening, const Listening& other, policy::Problems& problems);

  std::vector<Listening> all_;
};

// Two doors on one address.
struct Overlap {
  std::string_view first;
  net::Address first_address;
  std::string_view second;
  net::Address second_address;
};

// None: every door has its own.
[[nodiscard]] std::optional<Overlap> first_overlap(const DoorsConfig& doors);

}  // namespace weir::server
