// A limit of every algorithm, and the start time of the limiter tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "weir/limit.h"
#include "weir/time.h"

namespace weir {

inline constexpr Instant first_instant{std::chrono::seconds{1'700'000'000}};

inline std::vector<Limit> one_of_each(std::uint64_t capacity, Duration per) {
  const BucketNumbers bucket{.rate = {1, per}, .burst = capacity};
  const WindowNumbers window{.limit = capacity, .window = per};
  return {Limit::token_bucket(bucket).value(),
          Limit::gcra(bucket).value(),
          Limit::leaky_bucket(bucket).value(),
          Limit::leaky_bucket(QueueNumbers{.rate = bucket.rate, .queue = capacity - 1}).value(),
          Limit::fixed_window(window).value(),
          Limit::sliding_window_log(window).value(),
          Limit::sliding_window_counter(window).value()};
}

}  // namespace weir
