#include "core/share.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/arithmetic.h"
#include "core/arrival.h"
#include "weir/result.h"

namespace weir::core {
namespace {

Result<Limit> bucket(Algorithm algorithm, Rate rate, std::uint64_t capacity) {
  switch (algorithm) {
    case Algorithm::token_bucket:
      return Limit::token_bucket({rate, capacity});
    case Algorithm::leaky_bucket_meter:
      return Limit::leaky_bucket(BucketNumbers{rate, capacity});
    case Algorithm::leaky_bucket_queue:
      return Limit::leaky_bucket(QueueNumbers{rate, capacity - 1});
    default:
      return Limit::gcra({rate, capacity});
  }
}

Result<Limit> window(Algorithm algorithm, WindowNumbers numbers) {
  switch (algorithm) {
    case Algorithm::sliding_window_log:
      return Limit::sliding_window_log(numbers);
    case Algorithm::sliding_window_counter:
      return Limit::sliding_window_counter(numbers);
    case Algorithm::concurrency:
      return Limit::concurrency({numbers.limit, numbers.window});
    default:
      return Limit::fixed_window(numbers);
  }
}

struct Fraction {
  std::uint64_t part;
  std::uint64_t whole;
};

// Scales the rate by `share`: exactly or, if that has too many digits, as one token per N microseconds, rounded up.
Result<Limit> shared_bucket(const Limit& limit, Fraction share, std::uint64_t capacity) {
  const auto [count, per] = limit.rate();
  const Wide long_per = Wide{static_cast<std::uint64_t>(per.count())} * share.whole;
  const Wide shared_count = Wide{count} * share.part;
  constexpr auto most = static_cast<Wide>(INT64_MAX);
  if (long_per <= most && shared_count <= most) {
    const Rate exact{static_cast<std::uint64_t>(shared_count), Duration{static_cast<std::int64_t>(long_per)}};
    if (auto scaled = bucket(limit.algorithm(), exact, capacity)) return scaled;
  }
  // The slowest rate is one token per `longest`, which is also the maximum time to fill.
  constexpr auto longest = static_cast<Wide>(Limit::max_duration.count());
  const Wide token = std::min((long_per + shared_count - 1) / shared_count, longest);
  const auto filled = static_cast<std::uint64_t>(std::min(Wide{capacity}, longest / token));
  return bucket(limit.algorithm(), {1, Duration{static_cast<std::int64_t>(token)}}, filled);
}

Limit share_of(const Limit& limit, Fraction share, Cost max_cost) noexcept {
  const std::uint64_t least = std::max<std::uint64_t>(1, std::min(max_cost.units(), limit.capacity()));
  const std::uint64_t capacity = std::max(multiply_divide_floor(limit.capacity(), share.part, share.whole), least);
  if (limit.calendar() != nullptr) return Limit::fixed_window(capacity, *limit.calendar()).value_or(limit);
  const bool is_window = limit.algorithm() >= Algorithm::fixed_window;
  const auto scaled =
      is_window ? window(limit.algorithm(), {capacity, limit.rate().per}) : shared_bucket(limit, share, capacity);
  return scaled.value_or(limit);
}

// Leaves a bucket unchanged if it would take longer to fill than a limit may.
void slow_down(ArrivalLimit& limit) noexcept {
  std::int64_t per = 0;
  const bool is_too_slow = limit.fill.whole >= Limit::max_duration.count() / pending_slowdown;
  if (is_too_slow || __builtin_mul_overflow(limit.per, pending_slowdown, &per)) return;
  limit.per = per;
  limit.token = {per / limit.count, per % limit.count};
  limit.fill = limit.worth(limit.burst);
  limit.reach = ArrivalLimit::unbounded;
  limit.counts_in_64_bits = false;
}

}  // namespace

Limit local_share_of(const Limit& limit, std::uint32_t share, Cost max_cost) noexcept {
  return share_of(limit, {std::max<std::uint32_t>(share, 1), whole_share}, max_cost);
}

Limit node_share_of(const Limit& limit, std::uint64_t nodes, Cost max_cost) noexcept {
  return share_of(limit, {1, std::max(nodes, min_sharing_nodes)}, max_cost);
}

Rule pending_rule_of(const Rule& share) noexcept {
  Rule pending = share;
  std::visit(
      []<class A>(RuleOf<A>& of) {
        if constexpr (std::is_base_of_v<ArrivalLimit, typename A::Limit>) slow_down(of.limit);
      },
      pending);
  return pending;
}

}  // namespace weir::core
