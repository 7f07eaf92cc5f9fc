#include "simulate/demand.h"

#include <numeric>

#include "core/product.h"

namespace weir::simulate {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? most : product;
}

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? most : sum;
}

std::uint32_t capped(std::uint64_t count) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

void BucketDemand::add(const Limit& limit, Cost cost, Instant now) noexcept {
  const std::int64_t time = now.time_since_epoch().count();
  const Rate rate = limit.rate();
  const auto period = static_cast<std::uint64_t>(rate.per.count());
  const bool is_first = last_ == std::numeric_limits<std::int64_t>::min();
  const std::uint64_t elapsed = is_first ? 0 : static_cast<std::uint64_t>(time - last_);
  last_ = time;
  const std::uint64_t drained_once = capped_product(elapsed, rate.count);
  const std::uint64_t asked = capped_product(cost.units(), period);
  for (std::size_t i = 0; i < rate_multiples.size(); ++i) {
    const std::uint64_t drained = capped_product(drained_once, rate_multiples[i]);
    levels_[i] = capped_sum(levels_[i] - std::min(levels_[i], drained), asked);
    // Most requests find an empty bucket, and need no division to know that they are not the peak.
    if (levels_[i] <= capped_product(peaks_[i], period)) continue;
    peaks_[i] = capped(levels_[i] / period + (levels_[i] % period != 0 ? 1 : 0));
  }
}

Needs BucketDemand::needs() const noexcept {
  Needs needs{};
  std::ranges::copy(peaks_, needs.begin());
  return needs;
}

void FixedWindowDemand::add(const Limit& limit, Cost cost, Instant now) noexcept {
  const std::int64_t window = floor_div(now.time_since_epoch().count(), limit.rate().per.count());
  if (window != window_) count_ = 0;
  window_ = window;
  count_ = capped_sum(count_, cost.units());
  peak_ = std::max(peak_, count_);
}

void SlidingCounterDemand::add(const Limit& limit, Cost cost, Instant now) noexcept {
  const std::int64_t length = limit.rate().per.count();
  const std::int64_t time = now.time_since_epoch().count();
  const std::int64_t window = floor_div(time, length);
  if (window != window_) {
    previous_ = window_ != std::numeric_limits<std::int64_t>::min() && window == window_ + 1 ? current_ : 0;
    current_ = 0;
    window_ = window;
  }
  current_ = capped_sum(current_, cost.units());
  const auto left = static_cast<std::uint64_t>(length - (time - window * length));
  const std::uint64_t fading =
      previous_ == 0 ? 0 : core::multiply_divide_ceil(previous_, left, static_cast<std::uint64_t>(length));
  peak_ = std::max(peak_, capped_sum(fading, current_));
}

void SlidingLogDemand::add(const Limit& limit, Cost cost, Instant now) noexcept {
  const std::int64_t length = (limit.rate().per.count() + parts - 1) / parts;
  const std::int64_t part = floor_div(now.time_since_epoch().count(), length);
  constexpr std::int64_t slots = parts + 1;
  const auto slot_of = [](std::int64_t of) { return static_cast<std::size_t>((of % slots + slots) % slots); };
  if (part_ == std::numeric_limits<std::int64_t>::min() || part - part_ >= slots) {
    counts_ = {};
  } else {
    for (std::int64_t leaving = part_ + 1; leaving <= part; ++leaving) counts_[slot_of(leaving)] = 0;
  }
  part_ = part;
  std::uint32_t& count = counts_[slot_of(part)];
  count = capped(capped_sum(count, cost.units()));
  const std::uint64_t sum = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  peak_ = std::max(peak_, capped(sum));
}

}  // namespace weir::simulate
