#include "observe/history.h"

#include <algorithm>

namespace weir::observe {
namespace {

std::uint32_t narrowed(std::uint64_t count) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
}

}  // namespace

void History::add(const MeasuredSecond& measured) {
  const std::lock_guard guard(mutex_);
  const std::size_t slot = added_ % length;
  seconds_[slot] = measured.second;
  for (auto& [name, series] : limits_) series->counts[slot] = {};
  for (const LimitTraffic& limit : measured.limits) {
    Series* const series = series_of(limit.limit);
    if (series == nullptr) {
      overlooked_at_ = added_ + 1;
      continue;
    }
    series->last_active = added_;
    series->counts[slot] = {narrowed(limit.counts.decisions), narrowed(limit.counts.denied),
                            narrowed(limit.counts.shadow_denied)};
  }
  ++added_;
  std::erase_if(limits_, [&](const auto& limit) { return limit.second->last_active + length < added_; });
}

// Returns null if there is no room for another limit.
History::Series* History::series_of(std::string_view limit) {
  auto found = limits_.find(limit);
  if (found == limits_.end()) {
    if (limits_.size() >= max_limits) return nullptr;
    found = limits_.emplace(std::string(limit), std::make_unique<Series>()).first;
  }
  return found->second.get();
}

std::vector<Second> History::seconds() const {
  const std::lock_guard guard(mutex_);
  std::vector<Second> all;
  all.reserve(size());
  for (std::size_t back = size(); back > 0; --back) all.push_back(seconds_[(added_ - back) % length]);
  return all;
}

std::optional<std::vector<TrafficCounts>> History::of(std::string_view limit, std::size_t max_count) const {
  const std::lock_guard guard(mutex_);
  const auto found = limits_.find(limit);
  // If some limit recently had no room, a missing series does not mean that the limit was idle.
  const bool may_be_overlooked = overlooked_at_ > 0 && overlooked_at_ + length > added_;
  if (found == limits_.end() && may_be_overlooked) return {};
  std::vector<TrafficCounts> all;
  for (std::size_t back = std::min(size(), max_count); back > 0; --back) {
    const Counts counts = found == limits_.end() ? Counts{} : found->second->counts[(added_ - back) % length];
    all.push_back({counts.decisions, counts.denied, counts.shadow_denied});
  }
  return all;
}

}  // namespace weir::observe
