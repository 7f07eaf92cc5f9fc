// The consumers that each limit denied most, in the last 30 to 60 minutes.
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

// The most frequent keys in bounded memory (the Space-Saving algorithm). Not thread-safe.
//
// Invariants, for every key that was added n times since clear():
//   1. If it has an entry, count - error <= n <= count.
//   2. If it has none, n <= max_missed(). So every key that was added more often has an entry.
// When all entries are taken, a new key takes over the entry with the lowest count, and that count is its error.
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
    std::string name;          // set by the caller of add(); empty if the entry is new or was taken over
    std::size_t position = 0;  // position in the heap
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
  void put(std::size_t position, std::size_t entry) noexcept;
  void sink(std::size_t position) noexcept;
  void rise(std::size_t position) noexcept;
  [[nodiscard]] std::uint64_t count_at(std::size_t position) const noexcept { return entries_[heap_[position]].count; }

  const std::size_t capacity_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> heap_;  // indexes of entries_, a min-heap by count
  std::unordered_map<Key, std::size_t, KeyHash> by_key_;
};

struct DeniedConsumer {
  std::string limit;
  std::string consumer;     // as ConsumerNames writes it
  std::uint64_t count = 0;  // the maximum number of denials
  std::uint64_t error = 0;  // count - error is the minimum

  friend bool operator==(const DeniedConsumer&, const DeniedConsumer&) = default;
};

// Counts the denials of one loop. Only the loop's thread adds; any thread may read.
//
// Two sketches alternate every half hour, so the counts cover the last 30 to 60 minutes.
class TopDenied {
 public:
  static constexpr std::size_t default_entries = 1024;

  explicit TopDenied(std::size_t entries = default_entries)
      : halves_{SpaceSaving(entries), SpaceSaving(entries)}, half_hours_{0, 0} {}

  // `limit` must outlive this object. `write_name(std::string&)` is called to append the consumer's name if it is new.
  template <class WriteName>
  void count(const std::string& limit, std::uint64_t consumer, Instant now, WriteName&& write_name) {
    const std::lock_guard guard(mutex_);
    SpaceSaving::Entry& entry = current(now).add({&limit, consumer});
    if (entry.name.empty()) write_name(entry.name);
  }

  // The minimum number of denials of each consumer in the last 30 to 60 minutes.
  struct Count {
    const std::string* limit;  // valid for the lifetime of this object
    std::uint64_t consumer;
    std::uint64_t denials;
  };
  [[nodiscard]] std::vector<Count> counts() const;
  // Empty if the consumer no longer has an entry.
  [[nodiscard]] std::string name_of(std::string_view limit, std::uint64_t consumer) const;

  // At most `max_count` consumers of all loops together, most denied first.
  [[nodiscard]] static std::vector<DeniedConsumer> top(std::span<const TopDenied* const> all, std::size_t max_count,
                                                       Instant now);

 private:
  class Merge;

  // The sketch of the current half hour; cleared when the half hour begins.
  SpaceSaving& current(Instant now) noexcept;

  mutable std::mutex mutex_;
  std::array<SpaceSaving, 2> halves_;
  std::array<std::int64_t, 2> half_hours_;  // the half hour of each sketch, counted from the epoch
};

}  // namespace weir::observe
