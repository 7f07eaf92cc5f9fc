#include "engine/local_share.h"

#include <algorithm>

#include "core/product.h"

namespace weir::engine {
namespace {

constexpr std::uint64_t whole_share = 1'000'000;

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
    default:
      return Limit::fixed_window(numbers);
  }
}

// `part` of `rate`: exactly, or where that has too many digits, as one token in so many microseconds, rounded up.
Result<Limit> shared_bucket(const Limit& limit, std::uint32_t share, std::uint64_t capacity) {
  const auto [count, per] = limit.rate();
  const core::Wide long_per = core::Wide{static_cast<std::uint64_t>(per.count())} * whole_share;
  const core::Wide shared_count = core::Wide{count} * share;
  constexpr auto most = static_cast<core::Wide>(INT64_MAX);
  if (long_per <= most && shared_count <= most) {
    const Rate exact{static_cast<std::uint64_t>(shared_count), Duration{static_cast<std::int64_t>(long_per)}};
    if (auto scaled = bucket(limit.algorithm(), exact, capacity)) return scaled;
  }
  const core::Wide token = (long_per + shared_count - 1) / shared_count;
  return bucket(limit.algorithm(), {1, Duration{static_cast<std::int64_t>(std::min(token, most))}}, capacity);
}

}  // namespace

Limit local_share_of(const Limit& limit, std::uint32_t share, Cost largest_cost) noexcept {
  const std::uint64_t least = std::max<std::uint64_t>(1, std::min(largest_cost.units(), limit.capacity()));
  const std::uint64_t capacity = std::max(core::multiply_divide_floor(limit.capacity(), share, whole_share), least);
  const bool is_window = limit.algorithm() >= Algorithm::fixed_window;
  const auto scaled = is_window ? window(limit.algorithm(), {capacity, limit.rate().per})
                                : shared_bucket(limit, std::max<std::uint32_t>(share, 1), capacity);
  return scaled.value_or(limit);
}

}  // namespace weir::engine
