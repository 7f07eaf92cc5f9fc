#include "observe/space_saving.h"

#include <utility>

namespace weir::observe {

SpaceSaving::Entry& SpaceSaving::add(Key key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return entries_.size() < capacity_ ? append(key) : take_over_lowest(key);
  Entry& entry = entries_[found->second];
  ++entry.count;
  sink(entry.place);
  return entry;
}

void SpaceSaving::clear() noexcept {
  entries_.clear();
  heap_.clear();
  by_key_.clear();
}

std::uint64_t SpaceSaving::most_missed() const noexcept {
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
  entry.place = number;
  rise(number);
  return entry;
}

// The node in the map is used again: nothing is allocated.
SpaceSaving::Entry& SpaceSaving::take_over_lowest(Key key) {
  Entry& entry = entries_[heap_.front()];
  auto node = by_key_.extract(entry.key);
  node.key() = key;
  by_key_.insert(std::move(node));
  entry.key = key;
  entry.error = entry.count;
  ++entry.count;
  entry.name.clear();
  sink(0);
  return entry;
}

void SpaceSaving::put(std::size_t place, std::size_t entry) noexcept {
  heap_[place] = entry;
  entries_[entry].place = place;
}

void SpaceSaving::sink(std::size_t place) noexcept {
  const std::size_t moved = heap_[place];
  const std::uint64_t count = entries_[moved].count;
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && count_at(child + 1) < count_at(child)) ++child;
    if (count_at(child) >= count) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, moved);
}

void SpaceSaving::rise(std::size_t place) noexcept {
  const std::size_t moved = heap_[place];
  const std::uint64_t count = entries_[moved].count;
  while (place > 0 && count_at((place - 1) / 2) > count) {
    put(place, heap_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(place, moved);
}

}  // namespace weir::observe
