#include "weir/limit.h"

#include <array>
#include <chrono>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "core/arithmetic.h"
#include "core/calendar.h"

namespace weir {
namespace {

using core::Wide;

std::string text(std::uint64_t number) {
  return std::to_string(number);
}

// Formats a duration in the largest unit that expresses it exactly.
std::string text(Duration duration) {
  constexpr std::array<std::pair<Duration, std::string_view>, 5> units{{{std::chrono::days{1}, " days"},
                                                                        {std::chrono::hours{1}, " h"},
                                                                        {std::chrono::minutes{1}, " min"},
                                                                        {std::chrono::seconds{1}, " s"},
                                                                        {std::chrono::milliseconds{1}, " ms"}}};
  if (duration == std::chrono::days{1}) return "1 day";
  for (const auto& [unit, name] : units) {
    if (duration < unit || duration % unit != Duration::zero()) continue;
    return std::to_string(duration / unit) + std::string(name);
  }
  return std::to_string(duration.count()) + " us";
}

tl::unexpected<Error> too_large(std::string_view field, std::uint64_t number, std::uint64_t largest,
                                const std::string& why) {
  return failure(std::string(field), text(number) + " is too large: at most " + text(largest) + " " + why);
}

tl::unexpected<Error> zero(std::string_view field) {
  return failure(std::string(field), "0 would never admit anything: must be at least 1");
}

tl::unexpected<Error> not_positive(std::string_view field, Duration duration) {
  return failure(std::string(field), text(duration) + " is not positive: must be at least 1 us");
}

}  // namespace

std::string_view name_of(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::token_bucket:
      return "token_bucket";
    case Algorithm::gcra:
      return "gcra";
    case Algorithm::leaky_bucket_meter:
      return "leaky_bucket_meter";
    case Algorithm::leaky_bucket_queue:
      return "leaky_bucket_queue";
    case Algorithm::fixed_window:
      return "fixed_window";
    case Algorithm::sliding_window_log:
      return "sliding_window_log";
    case Algorithm::sliding_window_counter:
      return "sliding_window_counter";
    case Algorithm::concurrency:
      return "concurrency";
  }
  return "unknown";
}

// `field` is the caller's name for the burst, and `beyond` the excess of the burst over that field.
Result<Limit> Limit::bucket(Algorithm algorithm, Rate rate, std::uint64_t burst, std::string_view field,
                            std::uint64_t beyond) {
  if (rate.count == 0) return zero("rate.count");
  if (rate.per <= Duration::zero()) return not_positive("rate.per", rate.per);
  if (burst == 0) return zero(field);

  const auto per = static_cast<std::uint64_t>(rate.per.count());
  const std::uint64_t common = std::gcd(rate.count, per);
  const Rate reduced{rate.count / common, Duration{static_cast<std::int64_t>(per / common)}};
  const auto reduced_per = static_cast<std::uint64_t>(reduced.per.count());
  const std::string at_this_rate = "at " + text(reduced.count) + " per " + text(reduced.per);

  if (reduced.count > max_product) {
    return too_large("rate.count", rate.count, max_product * common, "per " + text(rate.per));
  }
  const auto max_fill = static_cast<std::uint64_t>(max_duration.count());
  if (Wide{reduced_per} > Wide{max_fill} * reduced.count) {
    return failure("rate.per", text(rate.per) + " for " + text(rate.count) + " is too slow: one every " +
                                   text(max_duration) + " (10 years) at the slowest");
  }
  const std::uint64_t max_exact = max_product / reduced.count;
  if (burst > max_exact) return too_large(field, burst - beyond, max_exact - beyond, at_this_rate + " (to stay exact)");
  const auto max_filled =
      static_cast<std::uint64_t>(std::min<Wide>(Wide{max_fill} * reduced.count / reduced_per, Wide{max_product}));
  if (burst > max_filled) {
    return too_large(field, burst - beyond, max_filled - beyond, at_this_rate + " (to fill within 10 years)");
  }
  return Limit(algorithm, reduced, burst);
}

Result<Limit> Limit::window(Algorithm algorithm, WindowNumbers numbers, std::uint64_t max_limit) {
  if (numbers.limit == 0) return zero("limit");
  if (numbers.limit > max_limit) {
    return too_large("limit", numbers.limit, max_limit, "for " + std::string(name_of(algorithm)));
  }
  if (numbers.window <= Duration::zero()) return not_positive("window", numbers.window);
  if (numbers.window > max_duration) {
    return failure("window", text(numbers.window) + " is too long: at most " + text(max_duration) + " (10 years)");
  }
  return Limit(algorithm, {numbers.limit, numbers.window}, numbers.limit);
}

Result<Limit> Limit::token_bucket(BucketNumbers numbers) {
  return bucket(Algorithm::token_bucket, numbers.rate, numbers.burst, "burst", 0);
}

Result<Limit> Limit::gcra(BucketNumbers numbers) {
  return bucket(Algorithm::gcra, numbers.rate, numbers.burst, "burst", 0);
}

Result<Limit> Limit::leaky_bucket(BucketNumbers numbers) {
  return bucket(Algorithm::leaky_bucket_meter, numbers.rate, numbers.burst, "burst", 0);
}

Result<Limit> Limit::leaky_bucket(QueueNumbers numbers) {
  if (numbers.queue >= max_product) {
    return too_large("queue", numbers.queue, max_product - 1, "at any rate");
  }
  return bucket(Algorithm::leaky_bucket_queue, numbers.rate, numbers.queue + 1, "queue", 1);
}

Result<Limit> Limit::fixed_window(WindowNumbers numbers) {
  return window(Algorithm::fixed_window, numbers, max_window_limit);
}

Result<Limit> Limit::fixed_window(std::uint64_t limit, const core::Calendar& calendar) {
  auto checked = fixed_window({limit, core::nominal_length(calendar.unit())});
  if (checked) checked->calendar_ = &calendar;
  return checked;
}

Result<Limit> Limit::sliding_window_log(WindowNumbers numbers) {
  return window(Algorithm::sliding_window_log, numbers, max_log_limit);
}

Result<Limit> Limit::sliding_window_counter(WindowNumbers numbers) {
  return window(Algorithm::sliding_window_counter, numbers, max_window_limit);
}

Result<Limit> Limit::concurrency(ConcurrencyNumbers numbers) {
  if (numbers.lease <= Duration::zero()) return not_positive("lease", numbers.lease);
  return window(Algorithm::concurrency, {numbers.limit, numbers.lease}, max_concurrency);
}

}  // namespace weir
