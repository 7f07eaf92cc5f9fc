#include "simulate/demand.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/arithmetic.h"
#include "core/calendar.h"
#include "policy/words.h"

namespace weir::simulate {
namespace {

constexpr std::uint64_t max_units = std::numeric_limits<std::uint64_t>::max();

std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? max_units : product;
}

std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? max_units : sum;
}

std::uint32_t capped(std::uint64_t count) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

using Sorted = std::array<std::vector<std::uint64_t>, rate_multiples.size()>;

bool is_bucket(const Limit& limit) noexcept {
  return limit.algorithm() < Algorithm::fixed_window;
}

bool is_queue(const Limit& limit) noexcept {
  return limit.algorithm() == Algorithm::leaky_bucket_queue;
}

// Returns the number as a policy writes it. For a queue that is one less than its capacity.
std::uint64_t as_written(const Limit& limit, std::uint64_t capacity) noexcept {
  return is_queue(limit) && capacity > 0 ? capacity - 1 : capacity;
}

std::string_view word_of(const Limit& limit) noexcept {
  if (is_queue(limit)) return "queue";
  return is_bucket(limit) ? "burst" : "limit";
}

std::string rate_of(const policy::Spelled& numbers, std::uint64_t multiple) {
  if (multiple == 1) return policy::rate_text(numbers);
  const Limit& limit = numbers.limit;
  const Rate rate = limit.rate();
  if (numbers.rate && numbers.rate->rate.count <= std::numeric_limits<std::uint64_t>::max() / multiple) {
    policy::WrittenRate raised = *numbers.rate;
    raised.rate.count *= multiple;
    return policy::rate_text(raised);
  }
  const auto raised = Limit::gcra({{rate.count * multiple, rate.per}, 1});
  return raised ? policy::rate_text(*raised) : std::to_string(multiple) + " x " + policy::rate_text(limit);
}

Demand::Quantiles quantiles_of(const Limit& limit, const std::vector<std::uint64_t>& sorted) {
  return {
      .half = as_written(limit, quantile(sorted, 0.5)),
      .p99 = as_written(limit, quantile(sorted, 0.99)),
      .p999 = as_written(limit, quantile(sorted, 0.999)),
      .all = as_written(limit, sorted.back()),
  };
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
  const std::uint64_t added = capped_product(cost.units(), period);
  for (std::size_t i = 0; i < rate_multiples.size(); ++i) {
    const std::uint64_t drained = capped_product(drained_once, rate_multiples[i]);
    levels_[i] = capped_sum(levels_[i] - std::min(levels_[i], drained), added);
    // Avoids the division for most requests, which are not the peak.
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
  const std::int64_t time = now.time_since_epoch().count();
  const core::Calendar* const calendar = limit.calendar();
  const std::int64_t window =
      calendar == nullptr ? floor_div(time, limit.rate().per.count()) : calendar->around(time).start;
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

LimitDemand::LimitDemand(const policy::TieredLimit& limits, std::size_t max_consumers) {
  for (std::size_t tier = 0; tier < limits.by_tier.size(); ++tier) {
    const auto& numbers = limits.by_tier[tier];
    const bool counts = numbers && numbers->algorithm() != Algorithm::concurrency;
    tiers_.push_back(counts ? std::optional(track(policy::spelled(limits, tier), max_consumers)) : std::nullopt);
  }
}

LimitDemand::OfTier LimitDemand::track(const policy::Spelled& numbers, std::size_t max_consumers) {
  switch (numbers.limit.algorithm()) {
    case Algorithm::fixed_window:
      return {numbers, ConsumerSample<FixedWindowDemand>(max_consumers)};
    case Algorithm::sliding_window_counter:
      return {numbers, ConsumerSample<SlidingCounterDemand>(max_consumers)};
    case Algorithm::sliding_window_log:
      return {numbers, ConsumerSample<SlidingLogDemand>(max_consumers)};
    default:
      return {numbers, ConsumerSample<BucketDemand>(max_consumers)};
  }
}

void LimitDemand::OfTier::add(std::uint64_t consumer, Cost cost, Instant now) {
  std::visit(
      [&](auto& of) {
        if (auto* const demand = of.find(consumer)) demand->add(numbers.limit, cost, now);
      },
      sample);
}

std::vector<Demand> LimitDemand::report(const std::vector<std::string>& tier_names) const {
  std::vector<Demand> reports;
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (!tiers_[tier]) continue;
    Demand demand = report_of(*tiers_[tier]);
    if (demand.consumers == 0) continue;
    demand.tier = tier < tier_names.size() ? tier_names[tier] : std::string{};
    reports.push_back(std::move(demand));
  }
  return reports;
}

Demand LimitDemand::report_of(const OfTier& tier) {
  const Limit& limit = tier.numbers.limit;
  Demand demand;
  Sorted needs;
  std::visit(
      [&](const auto& sample) {
        demand.one_in = sample.one_in();
        sample.for_each([&](const auto& consumer) {
          const Needs of = consumer.needs();
          for (std::size_t i = 0; i < of.size(); ++i) needs[i].push_back(of[i]);
        });
      },
      tier.sample);
  if (needs[0].empty()) return demand;
  for (auto& of_rate : needs) std::ranges::sort(of_rate);

  demand.consumers = needs[0].size();
  demand.numbers = policy::numbers_text(tier.numbers);
  demand.word = word_of(limit);
  demand.present = as_written(limit, limit.capacity());
  demand.upper_bound = limit.algorithm() == Algorithm::sliding_window_log;
  demand.satisfied =
      static_cast<std::uint64_t>(std::ranges::upper_bound(needs[0], limit.capacity()) - needs[0].begin());
  std::vector<std::uint64_t> written = needs[0];
  for (std::uint64_t& need : written) need = as_written(limit, need);
  demand.bars = bars_of(written);
  const std::size_t rates = is_bucket(limit) ? rate_multiples.size() : 1;
  for (std::size_t i = 0; i < rates; ++i) {
    demand.rates.push_back({rate_of(tier.numbers, rate_multiples[i]), quantiles_of(limit, needs[i])});
  }
  return demand;
}

std::uint64_t quantile(const std::vector<std::uint64_t>& sorted, double share) noexcept {
  // 1e-9 compensates for rounding errors of the product.
  const double rank = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

std::vector<Demand::Bar> bars_between(std::uint64_t lowest, std::uint64_t highest) {
  std::vector<Demand::Bar> bars;
  std::uint64_t from = 0;
  while (from <= highest) {
    const std::uint64_t octave = std::bit_floor(from);  // 0 for 0
    const std::uint64_t next = from < 2 ? from + 1 : from == octave ? octave + octave / 2 : octave * 2;
    if (next == 0) break;  // the last octave has no end
    if (next > lowest) bars.push_back({from, next - 1, 0});
    from = next;
  }
  return bars;
}

std::vector<Demand::Bar> bars_of(const std::vector<std::uint64_t>& sorted) {
  std::vector<Demand::Bar> bars = bars_between(sorted.front(), sorted.back());
  auto at = sorted.begin();
  for (Demand::Bar& bar : bars) {
    const auto end = std::upper_bound(at, sorted.end(), bar.to);
    bar.consumers = static_cast<std::uint64_t>(end - at);
    at = end;
  }
  return bars;
}

}  // namespace weir::simulate
