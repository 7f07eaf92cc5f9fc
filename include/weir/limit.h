// A checked limit: an algorithm and its numbers, known to be exact and free of overflow.
// A Limit can only be had from the functions below, which refuse numbers that could not be kept
// and say which one, and what its maximum is.
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
  std::uint64_t queue = 0;  // how many may wait their turn
};

struct WindowNumbers {
  std::uint64_t limit = 0;
  Duration window{};
};

// So many units may be held at once. A hold that is not released ends after the lease.
struct ConcurrencyNumbers {
  std::uint64_t limit = 0;
  Duration lease = std::chrono::seconds(60);
};

class Limit {
 public:
  // The longest time to fill a bucket, and the longest window: ten years of 365 days.
  static constexpr Duration longest = std::chrono::days{3650};
  // The largest limit of a window, and of a window that logs every request.
  static constexpr std::uint64_t largest_window_limit = 4'294'967'295;
  static constexpr std::uint64_t largest_log_limit = 65'536;
  static constexpr std::uint64_t largest_concurrency = 4'096;
  // burst x count stays below this, where every step is exact in 64 bits and in a double.
  static constexpr std::uint64_t largest_product = std::uint64_t{1} << 53;

  static Result<Limit> token_bucket(BucketNumbers numbers);
  static Result<Limit> gcra(BucketNumbers numbers);
  static Result<Limit> leaky_bucket(BucketNumbers numbers);
  static Result<Limit> leaky_bucket(QueueNumbers numbers);
  static Result<Limit> fixed_window(WindowNumbers numbers);
  // Windows that begin with the dates of a calendar, which outlives the limit. For Weir's own policies: there is no way
  // to have a calendar by these headers alone.
  static Result<Limit> fixed_window(std::uint64_t limit, const core::Calendar& calendar);
  static Result<Limit> sliding_window_log(WindowNumbers numbers);
  static Result<Limit> sliding_window_counter(WindowNumbers numbers);
  // Reserved and released by receipts: see weir/receipt.h.
  static Result<Limit> concurrency(ConcurrencyNumbers numbers);

  [[nodiscard]] Algorithm algorithm() const noexcept { return algorithm_; }

  // The rate in lowest terms (30 per 60 s is 1 per 2 s). Windows: the limit per window, as written; of a calendar, per
  // the usual length of one. Concurrency: the limit per lease.
  [[nodiscard]] Rate rate() const noexcept { return rate_; }

  // The most that a consumer at rest can take at once: burst, queue + 1, or the limit.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

  // Of a fixed window; null: its windows have one length.
  [[nodiscard]] const core::Calendar* calendar() const noexcept { return calendar_; }

  friend bool operator==(const Limit&, const Limit&) = default;

 private:
  Limit(Algorithm algorithm, Rate rate, std::uint64_t capacity) noexcept
      : algorithm_(algorithm), rate_(rate), capacity_(capacity) {}

  static Result<Limit> bucket(Algorithm algorithm, Rate rate, std::uint64_t burst, std::string_view field,
                              std::uint64_t beyond);
  static Result<Limit> window(Algorithm algorithm, WindowNumbers numbers, std::uint64_t largest_limit);

  Algorithm algorithm_;
  Rate rate_;
  std::uint64_t capacity_;
  const core::Calendar* calendar_ = nullptr;
};

}  // namespace weir
