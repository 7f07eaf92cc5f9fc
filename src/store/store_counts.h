// What a shared store has been through, in numbers. One for each loop: the loop's thread writes, any thread reads.
//
// A store writes into the counts of whoever made it, which outlive it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "store/outage/breaker.h"
#include "store/store.h"
#include "weir/time.h"

namespace weir::store {

// A number that one thread raises and others read.
class StoreCount {
 public:
  void raise(std::uint64_t by = 1) noexcept { value_.store(value() + by, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// A number that one thread sets and others read.
class StoreGauge {
 public:
  void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// How many values fell into which bucket. `bounds` rise; a value on a bound belongs to it; the last bucket is beyond.
template <const auto& bounds>
class StoreHistogram {
 public:
  static constexpr std::size_t buckets = bounds.size() + 1;

  void add(std::uint64_t value) noexcept {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && value > bounds[bucket]) ++bucket;
    counts_[bucket].raise();
    sum_.raise(value);
  }

  [[nodiscard]] std::uint64_t count(std::size_t bucket) const noexcept { return counts_[bucket].value(); }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_.value(); }

 private:
  std::array<StoreCount, buckets> counts_;
  StoreCount sum_;
};

inline constexpr std::array<std::uint64_t, 11> batch_size_bounds{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
// In microseconds.
inline constexpr std::array<std::uint64_t, 13> round_trip_bounds{
    50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000};

// What went wrong at a server, as it is told in metrics.
enum class StoreError : std::uint8_t {
  unreachable,    // no connection can be made
  credentials,    // the server does not know the user or the password, or allows too little
  lost,           // a connection ended
  timeout,        // no answer within the budget
  read_only,      // a replica, where a master should be
  out_of_memory,  // and it does not evict
  loading,        // the server starts, or waits for its master
  cluster_down,   // slots without a server
  refused,        // any other error
  garbled,        // an answer that is not one
  disagreement    // an answer that is not what the core makes of the states in it
};
inline constexpr std::size_t store_error_kinds = 11;

[[nodiscard]] constexpr std::string_view name_of(StoreError error) noexcept {
  constexpr std::array<std::string_view, store_error_kinds> names{
      "unreachable", "credentials",  "lost",    "timeout", "read_only",   "out_of_memory",
      "loading",     "cluster_down", "refused", "garbled", "disagreement"};
  return names[static_cast<std::size_t>(error)];
}

// What a server last said or did that was wrong.
class StoreComplaint {
 public:
  struct Said {
    std::string text;  // empty: nothing was wrong, ever
    Instant at{};      // the wall clock's
  };

  void set(std::string text, Instant at) {
    const std::scoped_lock lock(mutex_);
    said_ = {std::move(text), at};
  }
  [[nodiscard]] Said get() const {
    const std::scoped_lock lock(mutex_);
    return said_;
  }

 private:
  mutable std::mutex mutex_;
  Said said_;
};

inline constexpr std::size_t store_failures = 6;  // of Failure

struct StoreCounts {
  // Of groups: how they ended, by Failure, and those that ask() turned away.
  std::array<StoreCount, store_failures> groups;
  StoreCount turned_away;

  // Of what went to the servers. A batch is one write; several groups may be one evaluation.
  StoreCount batches;
  StoreCount evaluations;
  StoreHistogram<batch_size_bounds> batch_size;  // in groups
  StoreHistogram<round_trip_bounds> round_trip;  // of an evaluation
  StoreCount late_answers;                       // of evaluations, when nobody waited any more
  StoreCount sent_again;                         // evaluations that a server had refused to begin

  // Of groups with keys in several slots.
  StoreCount split_groups;
  StoreCount refunds;       // charges of some of them, given back because others denied or failed
  StoreCount lost_refunds;  // that could not be: they count until they expire

  std::array<StoreCount, store_error_kinds> errors;
  StoreComplaint last_error;

  // Of servers: how many there are, and of them connected; by the state of their breakers; how often those opened.
  StoreGauge servers;
  StoreGauge connected;
  std::array<StoreGauge, breaker_states> breakers;
  StoreCount opened;
  StoreCount closed;
  StoreGauge away_since;  // the wall clock's microseconds, while any breaker is not closed; otherwise 0

  // What the servers say.
  StoreCount evicted_keys;  // while we were connected
  StoreGauge evicting;      // servers whose maxmemory-policy is not noeviction
  StoreGauge clock_offset;  // microseconds that the servers' clock is ahead of ours, by the last answer

  StoreCount& of(Failure failure) noexcept { return groups[static_cast<std::size_t>(failure)]; }
  StoreCount& of(StoreError error) noexcept { return errors[static_cast<std::size_t>(error)]; }
  StoreGauge& of(BreakerState state) noexcept { return breakers[static_cast<std::size_t>(state)]; }

  // The worst of them.
  [[nodiscard]] BreakerState breaker() const noexcept {
    for (const BreakerState state : {BreakerState::open, BreakerState::half_open}) {
      if (breakers[static_cast<std::size_t>(state)].value() > 0) return state;
    }
    return BreakerState::closed;
  }
};

}  // namespace weir::store
