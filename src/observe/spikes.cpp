#include "observe/spikes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace weir::observe {
namespace {

constexpr std::uint64_t max_silent_seconds = 62UL * 60;  // a consumer is forgotten after this much silence

std::uint32_t per_second(std::uint64_t count, std::size_t seconds) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count / seconds, UINT32_MAX / SpikeTest::max_stretch));
}

}  // namespace

bool Stretch::add(std::uint32_t count) noexcept {
  gathered_ += count;
  if (++seconds_ % step_ != 0) return false;
  const std::size_t slot = seconds_ / step_ % parts_;
  remember(std::exchange(waiting_[slot], sum_));
  sum_ += gathered_ - last_[slot];
  last_[slot] = std::exchange(gathered_, 0);
  return true;
}

// Adds a past sum, which must no longer overlap with the current one.
void Stretch::remember(std::uint32_t sum) noexcept {
  highest_ = std::max(highest_, sum);
  if (seconds_ % period != 0) return;
  periods_[seconds_ / period % past_periods] = std::exchange(highest_, 0);
}

std::uint32_t Stretch::max_of_past() const noexcept {
  return std::max(highest_, *std::ranges::max_element(periods_));
}

SpikeTest::State SpikeTest::add(std::uint32_t count) noexcept {
  ++seconds_;
  std::array<bool, std::tuple_size_v<decltype(stretches_)>> is_new{};
  for (std::size_t i = 0; i < stretches_.size(); ++i) is_new[i] = stretches_[i].add(count);
  if (stretches_[1].sum() >= min_sum_of(stretches_[1])) ++busy_seconds_;
  if (lasts_) return update();
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    if (!is_new[i] || stretches_[i].sum() < min_sum_of(stretches_[i])) continue;
    const std::uint32_t past = stretches_[i].max_of_past();
    if (!is_sudden(stretches_[i], past)) continue;
    stretch_ = static_cast<std::uint8_t>(i);
    past_ = past;
    last_begin_ = seconds_;
    last_rate_ = static_cast<float>(rates().now);
    calm_ = 0;
    lasts_ = true;
    return State::begins;
  }
  return State::none;
}

bool SpikeTest::is_sudden(const Stretch& stretch, std::uint32_t past) const noexcept {
  constexpr std::uint32_t hour = 3'600;
  constexpr std::uint32_t day = 24 * hour;
  const bool is_young = seconds_ <= first_seconds;
  if (is_young && (busy_seconds_ <= silent_seconds || stretch.length() > max_initial_range)) return false;
  if (seconds_ <= 2U * stretch.length()) return false;  // there is not enough history to compare with
  const std::uint32_t ago = last_begin_ == 0 ? day : seconds_ - last_begin_;
  const float min_again = static_cast<float>(factor) * last_rate_ * static_cast<float>(stretch.length());
  if (ago < hour && static_cast<float>(stretch.sum()) <= min_again) return false;
  return stretch.sum() > (is_young || ago < day ? factor_again : factor) * past;
}

// A spike lasts while the stretch that detected it stays high.
SpikeTest::State SpikeTest::update() noexcept {
  const Stretch& stretch = stretches_[stretch_];
  const bool is_high = stretch.sum() > factor * past_ && stretch.sum() >= min_sum_of(stretch);
  calm_ = is_high ? 0 : static_cast<std::uint8_t>(calm_ + 1);
  last_rate_ = std::max(last_rate_, static_cast<float>(rates().now));
  lasts_ = calm_ < calm_seconds && seconds_ - last_begin_ < max_spike_seconds;
  return lasts_ ? State::lasts : State::ends;
}

SpikeTest::Rates SpikeTest::rates() const noexcept {
  const Stretch& stretch = stretches_[stretch_];
  const double length = stretch.length();
  return {stretch.sum() / length, past_ / length, stretch.length()};
}

void Spikes::set_limits(std::span<const std::string> names) {
  const std::lock_guard guard(mutex_);
  const std::set<std::string_view> known(names.begin(), names.end());
  std::erase_if(limits_, [&](const auto& limit) { return !known.contains(limit.first); });
  for (const std::string& name : names) {
    if (limits_.size() >= max_limits) break;
    limits_.try_emplace(name);
    counts_.try_emplace(name);  // exported as zero, so that the first spike is an increase
  }
}

std::vector<Spikes::Spike> Spikes::add_limits(std::span<const LimitTraffic> limits, std::size_t seconds, Instant now) {
  std::vector<Spike> started;
  if (seconds == 0) return started;
  const std::lock_guard guard(mutex_);
  std::map<std::string_view, std::uint64_t> decisions;
  for (const LimitTraffic& limit : limits) {
    decisions[limit.limit] = limit.counts.decisions;
    if (limits_.size() < max_limits) limits_.try_emplace(limit.limit);
  }
  for (auto& [name, limit] : limits_) {
    const auto found = decisions.find(name);
    const std::uint32_t count = found == decisions.end() ? 0 : per_second(found->second, seconds);
    for (std::size_t i = 0; i < seconds; ++i) {
      const SpikeTest::State state = limit.test.add(count);
      if (state == SpikeTest::State::begins) {
        limit.since = now;
        ++counts_[name].limits;
        started.push_back({.limit = name, .rates = limit.test.rates()});
      }
      limit.lasts = state == SpikeTest::State::begins || state == SpikeTest::State::lasts;
    }
  }
  return started;
}

// Adds each consumer's denials since the last test. The total shrinks if the sketch was cleared or reassigned the
// consumer's entry; then the increase is unknown and counts as zero.
void Spikes::add_denials(const TopDenied& denied, const std::vector<TopDenied::Count>& counts) {
  Denials& before = before_[&denied];
  Denials now;
  now.reserve(counts.size());
  for (const TopDenied::Count& count : counts) now[{*count.limit, count.consumer}] += count.denials;
  for (const auto& [key, denials] : now) {
    const auto found = before.find(key);
    const std::uint64_t known = found == before.end() ? 0 : found->second;
    const std::uint64_t grown = denials > known ? denials - known : 0;
    const auto tested = consumers_.find(key);
    if (tested == consumers_.end() && (grown < min_denials || consumers_.size() >= max_consumers)) continue;
    OfConsumer& consumer = tested == consumers_.end() ? consumers_[key] : tested->second;
    const bool is_new = tested == consumers_.end() && watched_ >= SpikeTest::first_seconds;
    if (is_new) consumer.test = SpikeTest::after_silence();
    consumer.added += grown;
    consumer.from = &denied;
  }
  before = std::move(now);
}

std::vector<Spikes::Spike> Spikes::add_consumers(std::span<const TopDenied* const> denied, std::size_t seconds) {
  std::vector<Spike> started;
  if (seconds == 0) return started;
  for (const TopDenied* const one : denied) add_denials(*one, one->counts());
  watched_ += seconds;
  for (auto& [key, consumer] : consumers_) {
    const std::uint32_t count = per_second(std::exchange(consumer.added, 0), seconds);
    consumer.silent = count >= min_denials ? 0 : consumer.silent + seconds;
    for (std::size_t i = 0; i < seconds; ++i) {
      if (consumer.test.add(count) != SpikeTest::State::begins) continue;
      started.push_back({std::string(key.limit), key.consumer, consumer.test.rates(), consumer.from});
    }
  }
  std::erase_if(consumers_, [](const auto& consumer) { return consumer.second.silent >= max_silent_seconds; });
  const std::lock_guard guard(mutex_);
  for (const Spike& spike : started) ++counts_[spike.limit].consumers;
  return started;
}

std::optional<Spikes::Lasting> Spikes::lasting(std::string_view limit) const {
  const std::lock_guard guard(mutex_);
  const auto found = limits_.find(limit);
  if (found == limits_.end() || !found->second.lasts) return {};
  return Lasting{found->second.since, found->second.test.rates()};
}

std::map<std::string, Spikes::Counts> Spikes::counts() const {
  const std::lock_guard guard(mutex_);
  return counts_;
}

}  // namespace weir::observe
