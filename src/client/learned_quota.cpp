#include "client/learned_quota.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace weir::client {

void LearnedQuota::promise(std::uint64_t left, Instant until, Instant now) {
  drop_past(now);
  if (until <= now) return;
  const auto is_implied = [&](const Step& step) { return step.left <= left && step.until >= until; };
  if (std::ranges::any_of(steps_, is_implied)) return;
  std::erase_if(steps_, [&](const Step& step) { return step.left >= left && step.until <= until; });
  const auto later = std::ranges::find_if(steps_, [&](const Step& step) { return step.until > until; });
  steps_.insert(later, Step{left, until});
  if (steps_.size() > max_steps) merge_nearest();
}

Instant LearnedQuota::admits_at(Cost cost, Instant now) const noexcept {
  const std::uint64_t needed = std::max<std::uint64_t>(cost.units(), 1);
  Instant at = now;
  for (const Step& step : steps_) {
    if (step.left < needed) at = std::max(at, step.until);
  }
  return at;
}

void LearnedQuota::take(Cost cost, Instant now) noexcept {
  drop_past(now);
  for (Step& step : steps_) {
    assert(step.left >= cost.units());
    step.left -= cost.units();
  }
}

void LearnedQuota::drop_past(Instant now) noexcept {
  std::erase_if(steps_, [now](const Step& step) { return step.until <= now; });
}

void LearnedQuota::merge_nearest() noexcept {
  const auto gap = [](const Step& a, const Step& b) { return b.until - a.until; };
  auto nearest = steps_.begin();
  for (auto step = steps_.begin(); std::next(step) != steps_.end(); ++step) {
    if (gap(*step, *std::next(step)) < gap(*nearest, *std::next(nearest))) nearest = step;
  }
  nearest->until = std::next(nearest)->until;
  steps_.erase(std::next(nearest));
}

}  // namespace weir::client
