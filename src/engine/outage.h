// What holds for a query while the shared store is away, by what each of its limits says: `local` limits are judged
// together on this process's share of them, `open` ones are not asked, and a `closed` one denies. At once, whatever the
// state of the store.
#pragma once

#include <span>

#include "engine/coverage.h"
#include "engine/judgement.h"
#include "engine/plan.h"
#include "engine/store_paths.h"
#include "engine/verdict.h"
#include "weir/time.h"

namespace weir::engine {

// When someone whom a closed limit denied may try again: nobody knows when the store is back.
inline constexpr Duration closed_retry_after = std::chrono::seconds(1);

// `coverage` is changed: its rules become those of this process. `outcomes` are filled as Judgement fills them.
[[nodiscard]] Verdict judge_without_store(const Plan& plan, Coverage& coverage, bool peek, Instant now,
                                          std::span<Outcome> outcomes, Judgement::Room& room, StorePaths& paths);

// What a closed limit says.
[[nodiscard]] Decision closed_decision(std::uint64_t capacity, Instant now) noexcept;

}  // namespace weir::engine
