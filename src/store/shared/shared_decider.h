// The decisions of a shared store, in C++. The Redis script does the same, bit for bit; tests/store_redis compares
// the two. Used to replay the script's decisions, by simulations, and by tests.
//
// Order within a group that decides: slice messages are reported, units admitted elsewhere are charged back, the checks
// are decided together, and slices are granted. Every operation on a state first charges slices that have expired.
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
  // Returned if a log cannot have been charged what `log_charges` claims.
  static constexpr std::uint64_t impossible = UINT64_MAX;

  // Fills in the decisions, `admitted`, and everything requested with them. `states` are those of the checks, in order;
  // a state may occur several times. Returns what the Redis script returns for the group: 0 if denied, otherwise one
  // more than the number of receipts opened; for an operation on receipts, the number of receipts it was applied to.
  //
  // `log_charges` is for a caller that has logs only in their state after the group: what each check charged to its
  // log.
  std::uint64_t decide(Group& group, std::span<SharedState* const> states, Instant now,
                       std::span<const std::uint64_t> log_charges = {});

 private:
  struct Input;

  // One check of a group that is decided in steps.
  struct Step {
    bool was_open = false;         // whether its receipt was open before the group
    core::ChargePosition charged;  // where its charge is recorded
    std::uint64_t holds = 0;       // units of a concurrency limit
  };

  std::uint64_t decide_with_messages(const Input& input);
  std::uint64_t decide_in_steps(const Input& input);
  void take_step(const Input& input, std::size_t i);
  [[nodiscard]] Decision hold(const Input& input, std::size_t i, Cost cost);
  std::uint64_t open_receipts(const Input& input);

  // Reused to avoid allocations.
  std::vector<Step> steps_;
  std::vector<SharedState::Numbers> saved_;
};

// True if the check would be admitted without any leased slices.
[[nodiscard]] bool is_admitted_without_slices(const Check& check, const SharedState& state, Instant now);

}  // namespace weir::store
