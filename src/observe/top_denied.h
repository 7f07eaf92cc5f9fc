// The consumers that were denied most of late, by limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/time.h"

namespace weir::observe {

// The most frequent of many, in bounded memory (the Space-Saving algorithm). For one thread.
//
// Invariants, for every key that was added n times since clear():
//   1. If it has an entry, count - error <= n <= count.
//   2. If it has none, n <= max_missed(). So whatever was added more often than that is there.
// When all entries are taken, a new key takes over the one with the lowest count, and that count is its error.
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
    std::string name;       // the caller of add() may write it; empty when the entry is new or was taken over
    std::size_t place = 0;  // in the heap
  };

  explicit SpaceSaving(std::size_t capacity) : capacity_(capacity) {}

  Entry& add(Key key);
  void clear() noexcept;

  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t max_missed() const noexcept;

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

struct DeniedConsumer {
  std::string limit;
  std::string consumer;     // as ConsumerNames writes it
  std::uint64_t count = 0;  // of denials, at most
  std::uint64_t error = 0;  // so many fewer, at most

  friend bool operator==(const DeniedConsumer&, const DeniedConsumer&) = default;
};

// One for each loop: its thread counts, any thread reads.
//
// Two sketches take turns, each for half an hour, so what is told is of the last half hour and of as much as one more.
class TopDenied {
 public:
  static constexpr std::size_t usual_entries = 1024;

  explicit TopDenied(std::size_t entries = usual_entries)
      : halves_{SpaceSaving(entries), SpaceSaving(entries)}, half_hours_{0, 0} {}

  // `limit` stays as long as this. `write_name(std::string&)` appends the consumer's name, where it is not known yet.
  template <class WriteName>
  void count(const std::string& limit, std::uint64_t consumer, Instant now, WriteName&& write_name) {
    const std::lock_guard guard(mutex_);
    SpaceSaving::Entry& entry = current(now).add({&limit, consumer});
    if (entry.name.empty()) write_name(entry.name);
  }

  // What is certain of each consumer, of the last half hour and of as much as one more.
  struct Count {
    const std::string* limit;  // stays as long as what counts
    std::uint64_t consumer;
    std::uint64_t denials;
  };
  [[nodiscard]] std::vector<Count> counts() const;
  // Empty: it is not known any more.
  [[nodiscard]] std::string name_of(std::string_view limit, std::uint64_t consumer) const;

  // The first `most` of all of them together, the most denied first.
  [[nodiscard]] static std::vector<DeniedConsumer> top(std::span<const TopDenied* const> all, std::size_t most,
                                                       Instant now);

 private:
  class Merge;

  // The sketch of this half hour, empty if it has just begun.
  SpaceSaving& current(Instant now) noexcept;

  mutable std::mutex mutex_;
  std::array<SpaceSaving, 2> halves_;
  std::array<std::int64_t, 2> half_hours_;  // of each sketch, since the epoch
};

}  // namespace weir::observe
