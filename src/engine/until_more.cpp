#include "engine/until_more.h"

#include <algorithm>

#include "core/product.h"
#include "core/until_more.h"

namespace weir::engine {
namespace {

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
  const TableRule* rule = rule_of(outcome.is_local_share ? limit.local : limit.live, tier);
  if (rule == nullptr) return std::nullopt;
  const bool is_imagined = outcome.only_looked && outcome.decision.admitted;
  const auto peek = [&](Cost cost) {
    const table::Ask ask{outcome.consumer, cost, Duration::max()};
    return is_imagined ? rule->table->peek_after(rule->rule, outcome.cost, ask, now)
                       : rule->table->peek(rule->rule, ask, now);
  };
  // What the limit has is more than nothing, which a block leaves until it ends.
  const Duration blocked = until_unblocked(limit, outcome, now);
  if (blocked > Duration::zero() && peek(Cost{0}).remaining > 0) return blocked;
  const std::optional<Duration> own = core::visit_rule(rule->rule, [&]<class A>(const core::RuleOf<A>& of) {
    return core::until_more<A>(of.limit, outcome.decision, outcome.max_wait, peek);
  });
  if (!own) return std::nullopt;
  return std::max(*own, blocked);
}

Duration time_to_fill(const Limit& limit) noexcept {
  const auto per = static_cast<std::uint64_t>(limit.rate().per.count());
  if (limit.algorithm() >= Algorithm::fixed_window) return limit.rate().per;
  const core::Wide units = core::Wide{limit.capacity()} * per;
  return Duration{static_cast<std::int64_t>((units + limit.rate().count - 1) / limit.rate().count)};
}

}  // namespace weir::engine
