#include "observe/top_denied.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

namespace weir::observe {
namespace {

std::int64_t half_hour_of(Instant now) noexcept {
  return std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()) / std::chrono::minutes{30};
}

}  // namespace

SpaceSaving::Entry& SpaceSaving::add(Key key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return entries_.size() < capacity_ ? append(key) : take_over_lowest(key);
  Entry& entry = entries_[found->second];
  ++entry.count;
  sink(entry.position);
  return entry;
}

void SpaceSaving::clear() noexcept {
  entries_.clear();
  heap_.clear();
  by_key_.clear();
}

std::uint64_t SpaceSaving::max_missed() const noexcept {
  return entries_.size() < capacity_ ? 0 : count_at(0);
}

SpaceSaving::Entry& SpaceSaving::append(Key key) {
  if (entries_.empty()) {
    entries_.reserve(capacity_);
    heap_.reserve(capacity_);
    by_key_.reserve(capacity_);
  }
  const std::size_t number = entries_.size();
  by_key_.emplace(key, number);
  heap_.push_back(number);
  Entry& entry = entries_.emplace_back();
  entry.key = key;
  entry.count = 1;
  entry.position = number;
  rise(number);
  return entry;
}

// Reuses the node of the map, so nothing is allocated. Every entry has a node in the map; g++ 14 cannot deduce that and
// would warn.
SpaceSaving::Entry& SpaceSaving::take_over_lowest(Key key) {
  Entry& entry = entries_[heap_.front()];
  auto node = by_key_.extract(entry.key);
  if (node.empty()) __builtin_unreachable();
  node.key() = key;
  by_key_.insert(std::move(node));
  entry.key = key;
  entry.error = entry.count;
  ++entry.count;
  entry.name.clear();
  sink(0);
  return entry;
}

void SpaceSaving::put(std::size_t position, std::size_t entry) noexcept {
  heap_[position] = entry;
  entries_[entry].position = position;
}

void SpaceSaving::sink(std::size_t position) noexcept {
  const std::size_t moved = heap_[position];
  const std::uint64_t count = entries_[moved].count;
  for (;;) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && count_at(child + 1) < count_at(child)) ++child;
    if (count_at(child) >= count) break;
    put(position, heap_[child]);
    position = child;
  }
  put(position, moved);
}

void SpaceSaving::rise(std::size_t position) noexcept {
  const std::size_t moved = heap_[position];
  const std::uint64_t count = entries_[moved].count;
  while (position > 0 && count_at((position - 1) / 2) > count) {
    put(position, heap_[(position - 1) / 2]);
    position = (position - 1) / 2;
  }
  put(position, moved);
}

// Sums sketches. Adds max_missed() of a sketch without the consumer to both its count and its error.
class TopDenied::Merge {
 public:
  void add(const SpaceSaving& sketch) {
    ++sketches_;
    missed_ += sketch.max_missed();
    for (const SpaceSaving::Entry& entry : sketch.entries()) {
      Sum& sum = sums_[{*entry.key.limit, entry.name}];
      sum.count += entry.count;
      sum.error += entry.error;
      if (std::exchange(sum.last_sketch, sketches_) != sketches_) sum.not_missed += sketch.max_missed();
    }
  }

  [[nodiscard]] std::vector<DeniedConsumer> top(std::size_t max_count) const {
    std::vector<DeniedConsumer> ranked;
    for (const auto& [key, sum] : sums_) {
      const std::uint64_t missed = missed_ - sum.not_missed;
      ranked.push_back({key.first, key.second, sum.count + missed, sum.error + missed});
    }
    std::ranges::sort(ranked, [](const DeniedConsumer& a, const DeniedConsumer& b) {
      return std::tie(b.count, a.error, a.limit, a.consumer) < std::tie(a.count, b.error, b.limit, b.consumer);
    });
    if (ranked.size() > max_count) ranked.resize(max_count);
    return ranked;
  }

 private:
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::uint64_t not_missed = 0;  // max_missed() of the sketches that have it
    std::size_t last_sketch = 0;   // the last sketch that has it
  };

  std::map<std::pair<std::string, std::string>, Sum> sums_;
  std::uint64_t missed_ = 0;
  std::size_t sketches_ = 0;
};

std::vector<DeniedConsumer> TopDenied::top(std::span<const TopDenied* const> all, std::size_t max_count, Instant now) {
  const std::int64_t oldest = half_hour_of(now) - 1;
  Merge merge;
  for (const TopDenied* one : all) {
    const std::lock_guard guard(one->mutex_);
    for (std::size_t i = 0; i < one->halves_.size(); ++i) {
      if (one->half_hours_[i] >= oldest) merge.add(one->halves_[i]);
    }
  }
  return merge.top(max_count);
}

// Copies only numbers, to keep the lock short.
std::vector<TopDenied::Count> TopDenied::counts() const {
  std::vector<Count> all;
  const std::lock_guard guard(mutex_);
  all.reserve(halves_[0].entries().size() + halves_[1].entries().size());
  for (const SpaceSaving& half : halves_) {
    for (const SpaceSaving::Entry& entry : half.entries()) {
      all.push_back({entry.key.limit, entry.key.consumer, entry.count - entry.error});
    }
  }
  return all;
}

std::string TopDenied::name_of(std::string_view limit, std::uint64_t consumer) const {
  const std::lock_guard guard(mutex_);
  for (const SpaceSaving& half : halves_) {
    for (const SpaceSaving::Entry& entry : half.entries()) {
      if (entry.key.consumer == consumer && *entry.key.limit == limit) return entry.name;
    }
  }
  return {};
}

// If the clock steps back, counting continues in the later half hour.
SpaceSaving& TopDenied::current(Instant now) noexcept {
  const std::int64_t latest = std::max(half_hours_[0], half_hours_[1]);
  const std::int64_t half_hour = std::max(half_hour_of(now), latest);
  const auto side = static_cast<std::size_t>(half_hour & 1);
  if (half_hours_[side] != half_hour) {
    halves_[side].clear();
    half_hours_[side] = half_hour;
  }
  return halves_[side];
}

}  // namespace weir::observe
