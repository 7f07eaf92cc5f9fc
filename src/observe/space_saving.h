// The most frequent of many, in bounded memory (the Space-Saving algorithm). For one thread.
//
// Invariants, for every key that was added n times since clear():
//   1. If it has an entry, count - error <= n <= count.
//   2. If it has none, n <= most_missed(). So whatever was added more often than that is there.
// When all entries are taken, a new key takes over the one with the lowest count, and that count is its error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::observe {

class SpaceSaving {
 public:
  struct Key {
    const std::string* limit = nullptr;  // its name, compared by address
    std::uint64_t consumer = 0;          // a keyed hash

    friend bool operator==(const Key&, const Key&) = default;
  };

  struct Entry {
    Key key;
    std::uint64_t count = 0;
    std::uint64_t error = 0;
    std::string name;       // whoever adds may write it; empty when the entry is new or was taken over
    std::size_t place = 0;  // in the heap
  };

  explicit SpaceSaving(std::size_t capacity) : capacity_(capacity) {}

  Entry& add(Key key);
  void clear() noexcept;

  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t most_missed() const noexcept;

 private:
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>(key.consumer) ^ std::hash<const std::string*>{}(key.limit);
    }
  };

  Entry& append(Key key);
  Entry& take_over_lowest(Key key);
  void put(std::size_t place, std::size_t entry) noexcept;
  void sink(std::size_t place) noexcept;
  void rise(std::size_t place) noexcept;
  [[nodiscard]] std::uint64_t count_at(std::size_t place) const noexcept { return entries_[heap_[place]].count; }

  const std::size_t capacity_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> heap_;  // entries, the lowest count first
  std::unordered_map<Key, std::size_t, KeyHash> by_key_;
};

}  // namespace weir::observe
