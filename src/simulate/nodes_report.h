// The part of a report that compares several nodes with shared limits to one exact store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/rates.h"
#include "weir/time.h"

namespace weir::simulate {

// How requests are distributed over nodes.
enum class Spread : std::uint8_t {
  round_robin,
  client,  // by the client's address, or else its user, so that a client always uses the same node
};

struct NodesReport {
  // Decisions of one limit.
  struct OfLimit {
    std::string name;
    std::string consistency;  // the effective consistency: `leased`, `exact (queue)`; a list if tiers differ
    std::uint64_t evaluated = 0;
    std::uint64_t exact_admitted = 0;
    std::uint64_t exact_denied = 0;
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;
    std::uint64_t newly_denied = 0;        // not denied by the exact store
    std::uint64_t newly_admitted = 0;      // denied by the exact store
    std::uint64_t contended_denials = 0;   // denied by the store while leased slices had enough unused units
    std::uint64_t without_round_trip = 0;  // subset of evaluated
    std::uint64_t messages = 0;            // messages to the store that concern this limit
    // The largest excess of a consumer over the limit; absent if it cannot be measured for the algorithm.
    std::optional<std::uint64_t> over = 0;
    std::optional<std::uint64_t> max_excess{};  // the guaranteed bound on the excess of an approximate limit
  };

  std::uint64_t nodes = 0;
  Spread spread = Spread::round_robin;
  Duration round_trip{};
  std::string consistency;  // consistency of all limits; empty: as configured in the policy

  std::uint64_t admitted = 0;  // admitted requests
  std::uint64_t denied = 0;
  std::uint64_t newly_denied = 0;
  std::uint64_t newly_admitted = 0;
  std::uint64_t covered = 0;             // requests covered by a limit
  std::uint64_t without_round_trip = 0;  // subset of covered: decided without the store
  RatePeak::Peaks messages;              // messages to the store; `requests` is their number
  double messages_per_second = 0;        // over the whole log
  std::vector<OfLimit> limits;           // in file order
};

[[nodiscard]] constexpr const char* name_of(Spread spread) noexcept {
  return spread == Spread::client ? "client" : "round-robin";
}

}  // namespace weir::simulate
