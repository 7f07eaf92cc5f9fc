// What several nodes that share their limits would have made of a log, beside one exact store: part of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/rates.h"
#include "weir/time.h"

namespace weir::simulate {

// Which node a request goes to.
enum class Spread : std::uint8_t {
  round_robin,  // the next one, as load balancers do unless told otherwise
  client,       // by the client's address, or else its user: a client stays on its node
};

struct NodesReport {
  // Decisions of one limit.
  struct OfLimit {
    std::string name;
    std::string consistency;  // as it is decided: `leased`, `exact (queue)`; of tiers that differ, all of them
    std::uint64_t evaluated = 0;
    std::uint64_t exact_admitted = 0;
    std::uint64_t exact_denied = 0;
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;
    std::uint64_t newly_denied = 0;        // not so by exact
    std::uint64_t newly_admitted = 0;      // denied by exact
    std::uint64_t contended_denials = 0;   // by the store, while slices held what would have been enough
    std::uint64_t without_round_trip = 0;  // of the evaluated
    std::uint64_t messages = 0;            // to the store, with something about this limit in them
    // By how much the worst consumer was over the limit, at its worst; none of an algorithm for which it is not known.
    std::optional<std::uint64_t> over = 0;
    std::optional<std::uint64_t> max_excess{};  // of an approximate limit: what it is stated to be at most, at once
  };

  std::uint64_t nodes = 0;
  Spread spread = Spread::round_robin;
  Duration round_trip{};
  std::string consistency;  // of all limits; empty: each has its own, by the policy

  std::uint64_t admitted = 0;  // requests
  std::uint64_t denied = 0;
  std::uint64_t newly_denied = 0;
  std::uint64_t newly_admitted = 0;
  std::uint64_t covered = 0;             // by a limit
  std::uint64_t without_round_trip = 0;  // of the covered: answered at once, the store was not asked
  RatePeak::Peaks messages;              // to the store; `requests` is how many
  double messages_per_second = 0;        // over the whole log
  std::vector<OfLimit> limits;           // in file order
};

[[nodiscard]] constexpr const char* name_of(Spread spread) noexcept {
  return spread == Spread::client ? "client" : "round-robin";
}

}  // namespace weir::simulate
