#include "observe/spikes.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace weir::observe {
namespace {

std::uint32_t per_second(std::uint64_t count, std::size_t seconds) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count / seconds, UINT32_MAX / SpikeTest::window));
}

}  // namespace

SpikeTest::State SpikeTest::add(std::uint32_t count) noexcept {
  remember(std::exchange(waiting_[seconds_ % window], sum_));
  last_[seconds_ % window] = count;
  sum_ = std::accumulate(last_.begin(), last_.end(), std::uint32_t{0});
  ++seconds_;
  if (lasts_) {
    calm_ = sum_ > factor * past_ && sum_ >= least ? 0 : static_cast<std::uint16_t>(calm_ + 1);
    lasts_ = calm_ < calm_seconds;
    return lasts_ ? State::lasts : State::ends;
  }
  if (seconds_ <= first_seconds || sum_ < least) return State::none;
  const std::uint32_t past = most_of_past();
  constexpr std::uint32_t day = 86'400;
  const bool was_told = told_ > 0 && seconds_ - told_ < day;
  if (sum_ <= (was_told ? factor_again : factor) * past) return State::none;
  past_ = past;
  told_ = seconds_;
  calm_ = 0;
  lasts_ = true;
  return State::begins;
}

SpikeTest::Rates SpikeTest::rates() const noexcept {
  return {static_cast<double>(sum_) / window, static_cast<double>(past_) / window};
}

std::uint32_t SpikeTest::most_of_past() const noexcept {
  return std::max(minute_, *std::ranges::max_element(minutes_));
}

// A sum comes here when the window that it belongs to is over.
void SpikeTest::remember(std::uint32_t sum) noexcept {
  minute_ = std::max(minute_, sum);
  if (seconds_ % 60 != 59) return;
  minutes_[seconds_ / 60 % past_minutes] = minute_;
  minute_ = 0;
}

void Spikes::know(std::span<const std::string> names) {
  const std::lock_guard guard(mutex_);
  const std::set<std::string_view> known(names.begin(), names.end());
  std::erase_if(limits_, [&](const auto& limit) { return !known.contains(limit.first); });
  for (const std::string& name : names) {
    if (limits_.size() >= most_limits) break;
    limits_.try_emplace(name);
    told_.try_emplace(name);  // nought, so that the first is a rise
  }
}

std::vector<Spikes::Spike> Spikes::add_limits(std::span<const LimitTraffic> limits, std::size_t seconds, Instant now) {
  std::vector<Spike> begun;
  if (seconds == 0) return begun;
  const std::lock_guard guard(mutex_);
  std::map<std::string_view, std::uint64_t> decisions;
  for (const LimitTraffic& limit : limits) {
    decisions[limit.limit] = limit.counts.decisions;
    if (limits_.size() < most_limits) limits_.try_emplace(limit.limit);
  }
  for (auto& [name, limit] : limits_) {
    const auto found = decisions.find(name);
    const std::uint32_t count = found == decisions.end() ? 0 : per_second(found->second, seconds);
    for (std::size_t i = 0; i < seconds; ++i) {
      const SpikeTest::State state = limit.test.add(count);
      if (state == SpikeTest::State::begins) {
        limit.since = now;
        ++told_[name].limits;
        begun.push_back({.limit = name, .rates = limit.test.rates()});
      }
      limit.lasts = state == SpikeTest::State::begins || state == SpikeTest::State::lasts;
    }
  }
  return begun;
}

// What each was denied since the last time. A sketch that begins anew, or that gave a consumer's place to another, has
// less than before: then nothing is known of this second.
void Spikes::notice_consumers(const DeniedMost& denied, const std::vector<DeniedMost::Count>& counts) {
  Denials& before = before_[&denied];
  Denials now;
  now.reserve(counts.size());
  for (const DeniedMost::Count& count : counts) now[{*count.limit, count.consumer}] += count.denials;
  for (const auto& [key, denials] : now) {
    const auto found = before.find(key);
    const std::uint64_t known = found == before.end() ? 0 : found->second;
    const std::uint64_t grown = denials > known ? denials - known : 0;
    const auto tested = consumers_.find(key);
    if (tested == consumers_.end() && (grown < noticed || consumers_.size() >= most_consumers)) continue;
    OfConsumer& consumer = tested == consumers_.end() ? consumers_[key] : tested->second;
    const bool is_new = tested == consumers_.end() && watched_ >= SpikeTest::first_seconds;
    if (is_new) consumer.test = SpikeTest::after_silence();
    consumer.added += grown;
    consumer.from = &denied;
  }
  before = std::move(now);
}

std::vector<Spikes::Spike> Spikes::add_consumers(std::span<const DeniedMost* const> denied, std::size_t seconds) {
  std::vector<Spike> begun;
  if (seconds == 0) return begun;
  for (const DeniedMost* const one : denied) notice_consumers(*one, one->counts());
  watched_ += seconds;
  for (auto& [key, consumer] : consumers_) {
    const std::uint32_t count = per_second(std::exchange(consumer.added, 0), seconds);
    consumer.silent = count >= noticed ? 0 : consumer.silent + seconds;
    for (std::size_t i = 0; i < seconds; ++i) {
      if (consumer.test.add(count) != SpikeTest::State::begins) continue;
      begun.push_back({std::string(key.limit), key.consumer, consumer.test.rates(), consumer.from});
    }
  }
  std::erase_if(consumers_,
                [](const auto& consumer) { return consumer.second.silent >= SpikeTest::past_minutes * 60; });
  const std::lock_guard guard(mutex_);
  for (const Spike& spike : begun) ++told_[spike.limit].consumers;
  return begun;
}

std::optional<Spikes::Lasting> Spikes::lasting(std::string_view limit) const {
  const std::lock_guard guard(mutex_);
  const auto found = limits_.find(limit);
  if (found == limits_.end() || !found->second.lasts) return {};
  return Lasting{found->second.since, found->second.test.rates()};
}

std::map<std::string, Spikes::Told> Spikes::told() const {
  const std::lock_guard guard(mutex_);
  return told_;
}

}  // namespace weir::observe
