// SPDX-License-Identifier: Apache-2.0
// A validated limit: an algorithm and its numbers, known to be exact and free of overflow. Limits are created only by
// the functions below, which reject numbers out of range and name the field and its maximum.
#pragma once

#include <cstdint>
#include <string_view>

#include "weir/result.h"
#include "weir/time.h"

namespace weir {

namespace core {
class Calendar;
}

enum class Algorithm : std::uint8_t {
  token_bucket,
  gcra,
  leaky_bucket_meter,
  leaky_bucket_queue,
  fixed_window,
  sliding_window_log,
  sliding_window_counter,
  concurrency,
};

[[nodiscard]] std::string_view name_of(Algorithm algorithm) noexcept;

// `count` per `per`: Rate{7, 3s} is seven every three seconds.
struct Rate {
  std::uint64_t count = 0;
  Duration per{};

  friend bool operator==(const Rate&, const Rate&) = default;
};

struct BucketNumbers {
  Rate rate;
  std::uint64_t burst = 1;
};

struct QueueNumbers {
  Rate rate;
  std::uint64_t queue = 0;  // how many may wait for their turn
};

struct WindowNumbers {
  std::uint64_t limit = 0;
  Duration window{};
};

// At most `limit` units are held at once. A hold that is not released expires after the lease.
struct ConcurrencyNumbers {
  std::uint64_t limit = 0;
  Duration lease = std::chrono::seconds(60);
};

class Limit {
 public:
  // The maximum time to fill a bucket, and the maximum window: ten years of 365 days.
  static constexpr Duration max_duration = std::chrono::days{3650};
  // The maximum limit of a window, and of a sliding window log.
  static constexpr std::uint64_t max_window_limit = 4'294'967'295;
  static constexpr std::uint64_t max_log_limit = 65'536;
  static constexpr std::uint64_t max_concurrency = 4'096;
  // burst x count is at most this, so that every step is exact in 64 bits and in a double.
  static constexpr std::uint64_t max_product = std::uint64_t{1} << 53;

  static Result<Limit> token_bucket(BucketNumbers numbers);
  static Result<Limit> gcra(BucketNumbers numbers);
  static Result<Limit> leaky_bucket(BucketNumbers numbers);
  static Result<Limit> leaky_bucket(QueueNumbers numbers);
  static Result<Limit> fixed_window(WindowNumbers numbers);
  // Windows that follow the dates of a calendar, which must outlive the limit. Used only by Weir's own policies: the
  // public headers offer no calendar.
  static Result<Limit> fixed_window(std::uint64_t limit, const core::Calendar& calendar);
  static Result<Limit> sliding_window_log(WindowNumbers numbers);
  static Result<Limit> sliding_window_counter(WindowNumbers numbers);
  // Reserved and released by receipts; see weir/receipt.h.
  static Result<Limit> concurrency(ConcurrencyNumbers numbers);

  [[nodiscard]] Algorithm algorithm() const noexcept { return algorithm_; }

  // The rate in lowest terms (30 per 60 s is 1 per 2 s). For windows, the limit per window as written; with a calendar,
  // per nominal window length. For concurrency, the limit per lease.
  [[nodiscard]] Rate rate() const noexcept { return rate_; }

  // The maximum that an idle consumer can take at once: burst, queue + 1, or the limit.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

  // The calendar of a fixed window; null if all its windows have the same length.
  [[nodiscard]] const core::Calendar* calendar() const noexcept { return calendar_; }

  friend bool operator==(const Limit&, const Limit&) = default;

 private:
  Limit(Algorithm algorithm, Rate rate, std::uint64_t capacity) noexcept
      : algorithm_(algorithm), rate_(rate), capacity_(capacity) {}

  static Result<Limit> bucket(Algorithm algorithm, Rate rate, std::uint64_t burst, std::string_view field,
                              std::uint64_t beyond);
  static Result<Limit> window(Algorithm algorithm, WindowNumbers numbers, std::uint64_t max_limit);

  Algorithm algorithm_;
  Rate rate_;
  std::uint64_t capacity_;
  const core::Calendar* calendar_ = nullptr;
};

}  // namespace weir
