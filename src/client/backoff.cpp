#include "weir/backoff.h"

#include <algorithm>
#include <string>
#include <utility>

#include "wire/fields/rate_limit.h"

namespace weir {

namespace {

std::string text(Duration duration) {
  return std::to_string(duration.count()) + " us";
}

}  // namespace

Result<Backoff> Backoff::create(Randomness randomness, Options options) {
  if (!randomness) return failure("randomness", "is empty: pass a function that returns a number from 0 to its bound");
  if (options.base <= Duration::zero()) {
    return failure("base", text(options.base) + " is not positive: must be at least 1 us");
  }
  if (options.cap < options.base) {
    return failure("cap", text(options.cap) + " is too short: at least base, " + text(options.base));
  }
  return Backoff(std::move(randomness), options);
}

Result<Backoff> Backoff::create(Randomness randomness) {
  return create(std::move(randomness), Options{});
}

Backoff::Backoff(Randomness randomness, Options options)
    : randomness_(std::move(randomness)), options_(options), bound_(options.base) {}

Duration Backoff::next() {
  const auto bound = static_cast<std::uint64_t>(bound_.count());
  // A result beyond the bound must not become a wait beyond the cap.
  const std::uint64_t drawn = std::min(randomness_(bound), bound);
  bound_ = bound_ > options_.cap / 2 ? options_.cap : bound_ * 2;
  return Duration{static_cast<Duration::rep>(drawn)};
}

Duration Backoff::next(std::string_view retry_after, Instant now) {
  const Duration jitter = next();
  const Duration requested = wire::parse_retry_after(retry_after, now).value_or(Duration::zero());
  return jitter > Duration::max() - requested ? Duration::max() : requested + jitter;
}

void Backoff::reset() noexcept {
  bound_ = options_.base;
}

}  // namespace weir
