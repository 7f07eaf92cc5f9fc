#include "engine/outage.h"

#include <chrono>
#include <cstddef>
#include <optional>

namespace weir::engine {
namespace {

using policy::OnStoreFailure;

StorePath path_of(OnStoreFailure choice) noexcept {
  switch (choice) {
    case OnStoreFailure::open:
      return StorePath::open;
    case OnStoreFailure::closed:
      return StorePath::closed;
    case OnStoreFailure::local:
      break;
  }
  return StorePath::local;
}

}  // namespace

Decision closed_decision(std::uint64_t capacity, Instant now) noexcept {
  return {.admitted = false,
          .limit = capacity,
          .remaining = 0,
          .retry_after = closed_retry_after,
          .reset_after = closed_retry_after,
          .charged_at = now};
}

Verdict judge_without_store(const Plan& plan, Coverage& coverage, bool peek, Instant now, std::span<Outcome> outcomes,
                            Judgement::Room& room, StorePaths& paths) {
  std::optional<std::size_t> closed;
  bool all_open = true;
  const auto tier = coverage.caller.tier;
  for (std::size_t i = 0; i < coverage.covered.size(); ++i) {
    Covered& covered = coverage.covered[i];
    const PlannedLimit& limit = plan.limits()[covered.limit];
    covered.candidate = nullptr;
    if (covered.live == nullptr) continue;
    const StorePath path = path_of(limit.source->on_store_failure);
    const bool is_live = limit.source->mode == policy::Mode::enforce;
    covered.live = path == StorePath::local ? rule_of(limit.local, tier) : nullptr;
    if (!is_live) continue;
    if (!peek) paths.raise(path);
    all_open = all_open && path == StorePath::open;
    if (path == StorePath::closed && !closed) closed = i;
  }
  // Where one limit is closed the others only look.
  Verdict verdict = Judgement(plan, coverage, peek || closed.has_value(), now, outcomes, room).pass();
  for (Outcome& outcome : outcomes) outcome.is_local_share = true;
  if (!closed) {
    if (all_open && verdict.admitted && !coverage.covered.empty()) verdict.reason = Reason::store_away;
    return verdict;
  }
  Outcome& outcome = outcomes[*closed];
  outcome.decision = closed_decision(plan.limits()[outcome.limit].source->live.by_tier[tier]->capacity(), now);
  outcome.is_shared = true;
  outcome.more_after = closed_retry_after;
  if (!verdict.admitted) return verdict;  // another denies by itself, and knows for how long
  verdict.admitted = false;
  verdict.reason = Reason::store_away;
  verdict.limit = outcome.limit;
  verdict.decision = outcome.decision;
  verdict.retry_after = outcome.decision.retry_after;
  verdict.delay = Duration::zero();
  return verdict;
}

}  // namespace weir::engine
