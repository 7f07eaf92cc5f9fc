#include "core/rule.h"

#include <type_traits>
#include <variant>

namespace weir::core {

Rule compile(const Limit& limit) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::token_bucket:
      return RuleOf<TokenBucket>{TokenBucket::Limit(limit)};
    case Algorithm::gcra:
      return RuleOf<Gcra>{Gcra::Limit(limit)};
    case Algorithm::leaky_bucket_meter:
      return RuleOf<LeakyBucketMeter>{LeakyBucketMeter::Limit(limit)};
    case Algorithm::leaky_bucket_queue:
      return RuleOf<LeakyBucketQueue>{LeakyBucketQueue::Limit(limit)};
    case Algorithm::fixed_window:
      return RuleOf<FixedWindow>{FixedWindow::Limit(limit)};
    case Algorithm::sliding_window_log:
      return RuleOf<SlidingWindowLog>{SlidingWindowLog::Limit(limit)};
    case Algorithm::concurrency:
      return RuleOf<Concurrency>{Concurrency::Limit(limit)};
    case Algorithm::sliding_window_counter:
      break;
  }
  return RuleOf<SlidingWindowCounter>{SlidingWindowCounter::Limit(limit)};
}

Duration time_to_fill(const Rule& rule) noexcept {
  return visit_rule(rule, []<class A>(const RuleOf<A>& of) {
    if constexpr (std::is_base_of_v<ArrivalLimit, typename A::Limit>) {
      return of.limit.fill.rounded_up();
    } else {
      return Duration{of.limit.window};
    }
  });
}

Duration time_to_fill(const Limit& limit) noexcept {
  const Rate rate = limit.rate();
  if (limit.algorithm() >= Algorithm::fixed_window) return rate.per;
  const Wide units = Wide{limit.capacity()} * static_cast<std::uint64_t>(rate.per.count());
  return Duration{static_cast<std::int64_t>((units + rate.count - 1) / rate.count)};
}

void bound_reach(Rule& rule, Duration slowest_to_fill) noexcept {
  std::visit(
      [&]<class A>(RuleOf<A>& of) {
        if constexpr (std::is_base_of_v<ArrivalLimit, typename A::Limit>) {
          const FineSpan fill = of.limit.fill;
          of.limit.reach = slowest_to_fill <= fill.rounded_up() ? fill : FineSpan{slowest_to_fill.count(), 0};
        }
      },
      rule);
}

}  // namespace weir::core
