// How a shared store decides: the one implementation in C++. decide.lua does the same on Redis, to the bit; tests/
// store_redis compares the two. Used to replay what the script decided, by simulations, and by tests.
//
// The order within a group that decides: the messages about slices are reported, what was admitted elsewhere is charged
// back, the checks are decided together, and slices are granted. Whatever is done on a state, slices that have expired
// by then are charged first.
//
// Not thread-safe. Allocates nothing once the largest group has been seen, except for logs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/receipts.h"
#include "store/shared/shared_state.h"
#include "store/store.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::store {

class SharedDecider {
 public:
  // Returned where a log cannot have been charged what `log_charges` says.
  static constexpr std::uint64_t impossible = UINT64_MAX;

  // Fills in the decisions, `admitted`, and what was asked for beside them. `states` are those of the checks, in order;
  // one may occur several times. Returns what decide.lua answers for the group: 0 where it is denied, otherwise one
  // more than the number of receipts that it opened; for an operation on receipts, on how many of them something was
  // done.
  //
  // `log_charges` is for a caller that has logs only as they are after the group: what each check charged to its log.
  std::uint64_t decide(Group& group, std::span<SharedState* const> states, Instant now,
                       std::span<const std::uint64_t> log_charges = {});

 private:
  struct Asked;

  // One check of a group that is decided in steps.
  struct Step {
    bool was_open = false;      // its receipt, before the group
    core::ChargePlace charged;  // where its charge lies
    std::uint64_t holds = 0;    // units of a limit on concurrency
  };

  std::uint64_t decide_with_messages(const Asked& asked);
  std::uint64_t decide_in_steps(const Asked& asked);
  void take_step(const Asked& asked, std::size_t i);
  [[nodiscard]] Decision hold(const Asked& asked, std::size_t i, Cost cost);
  std::uint64_t open_receipts(const Asked& asked);

  // Kept for their memory.
  std::vector<Step> steps_;
  std::vector<SharedState::Numbers> saved_;
};

// True if the check would be admitted if no slices were out.
[[nodiscard]] bool is_admitted_without_slices(const Check& check, const SharedState& state, Instant now);

}  // namespace weir::store
