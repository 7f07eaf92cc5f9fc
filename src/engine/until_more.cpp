#include "engine/until_more.h"

#include <algorithm>
#include <type_traits>

#include "core/product.h"

namespace weir::engine {
namespace {

// When a bucket with `used_for` until it is full again holds `tokens`.
Duration until_tokens(const core::ArrivalLimit& limit, Duration used_for, std::uint64_t tokens) noexcept {
  const core::FineSpan used{used_for.count(), 0};
  return limit.difference(limit.sum(used, limit.worth(tokens)), limit.fill).rounded_up();
}

// Nothing remains to who cannot wait for the turn that would be next.
Duration until_turn(const core::ArrivalLimit& limit, const Decision& decision, Duration max_wait) noexcept {
  max_wait = std::max(max_wait, Duration::zero());
  const Duration used_for = decision.reset_after;
  if (used_for <= max_wait) return until_tokens(limit, used_for, decision.remaining + 1);
  return std::max(used_for - max_wait, until_tokens(limit, used_for, 1));
}

template <class A>
Duration until_one_more(const TableRule& rule, const typename A::Limit& limit, const Outcome& outcome,
                        Instant now) noexcept {
  const Decision& decision = outcome.decision;
  if constexpr (std::is_same_v<A, core::LeakyBucketQueue>) {
    return until_turn(limit, decision, outcome.max_wait);
  } else if constexpr (std::is_base_of_v<core::ArrivalLimit, typename A::Limit>) {
    return until_tokens(limit, decision.reset_after, decision.remaining + 1);
  } else if constexpr (std::is_same_v<A, core::FixedWindow>) {
    return decision.reset_after;
  } else {
    const Decision next =
        rule.table->peek(rule.rule, {outcome.consumer, Cost{decision.remaining + 1}, Duration::max()}, now);
    return next.retry_after.value_or(decision.reset_after);
  }
}

// How long the consumer is denied outright.
Duration until_unblocked(const PlannedLimit& limit, const Outcome& outcome, Instant now) noexcept {
  if (!limit.block || outcome.decision.admitted || outcome.standing == Standing::shadow) return Duration::zero();
  const Decision block = limit.block->table->peek(limit.block->rule, {outcome.consumer, Cost{1}}, now);
  return block.retry_after.value_or(Duration::zero());
}

}  // namespace

std::optional<Duration> until_more(const Plan& plan, const Outcome& outcome, std::uint32_t tier, Instant now) noexcept {
  if (outcome.is_shared) return outcome.more_after;
  const PlannedLimit& limit = plan.limits()[outcome.limit];
  const TableRule* rule = rule_of(limit.live, tier);
  if (rule == nullptr || outcome.decision.remaining >= outcome.decision.limit) return std::nullopt;
  const Duration own = core::visit_rule(
      rule->rule, [&]<class A>(const core::RuleOf<A>& of) { return until_one_more<A>(*rule, of.limit, outcome, now); });
  return std::max(own, until_unblocked(limit, outcome, now));
}

Duration time_to_fill(const Limit& limit) noexcept {
  const auto per = static_cast<std::uint64_t>(limit.rate().per.count());
  if (limit.algorithm() >= Algorithm::fixed_window) return limit.rate().per;
  const core::Wide units = core::Wide{limit.capacity()} * per;
  return Duration{static_cast<std::int64_t>((units + limit.rate().count - 1) / limit.rate().count)};
}

}  // namespace weir::engine
