// What a process admitted to a consumer while the shared store was away, and has to charge there.
//
// It is a state of its own beside the one that this process decides by, in the same table and by the same rule: only a
// part of what counts here is owed, and to charge it there makes no room here.
// Callable from any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "store/shared/shared_store.h"
#include "table/table.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::engine {

// Whose share of a limit it is.
struct LocalShare {
  table::Table& table;
  const core::Rule& rule;
  table::KeyHash consumer;
};

[[nodiscard]] inline table::KeyHash owed_key(table::KeyHash consumer) noexcept {
  return {consumer.value ^ 0x6F77656421A5C3E7U};
}

// Whether an ask that failed has surely changed nothing: then what is admitted instead is owed, and what was owed still
// is. What was sent and not answered may have been counted, and is not charged again.
[[nodiscard]] constexpr bool left_the_store_unchanged(store::StoreFailure failure) noexcept {
  return failure == store::StoreFailure::away || failure == store::StoreFailure::refused;
}

// At most as much as the share has.
inline void owe(const LocalShare& share, std::uint64_t cost, Instant now) noexcept {
  if (cost > 0) share.table.add_usage(share.rule, owed_key(share.consumer), Cost{cost}, now);
}

// It is not owed any more. What no longer counts here is not asked for there.
[[nodiscard]] inline std::uint64_t take_owed(const LocalShare& share, Instant now) noexcept {
  const std::uint64_t owed = share.table.take_usage(share.rule, owed_key(share.consumer), now);
  if (owed == 0) return 0;
  const Decision here = share.table.peek(share.rule, {share.consumer, Cost{0}}, now);
  return std::min(owed, here.limit - here.remaining);
}

}  // namespace weir::engine
