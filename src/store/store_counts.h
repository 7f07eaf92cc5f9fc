// Counters of a shared store. One per loop: the loop's thread writes, any thread reads. Owned by the creator of the
// store, and must outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/counter.h"
#include "base/histogram.h"
#include "store/outage/breaker.h"
#include "store/store.h"
#include "weir/time.h"

namespace weir::store {

inline constexpr base::Scale<11> batch_size_scale{0, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}};
// The bounds are in microseconds.
inline constexpr base::Scale<13> round_trip_scale{
    6, {50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000}};

// Kinds of server errors, as reported in metrics.
enum class StoreError : std::uint8_t {
  unreachable,    // no connection can be established
  credentials,    // unknown user, wrong password or insufficient permissions
  lost,           // a connection ended
  timeout,        // no answer within the timeout
  read_only,      // a replica, where a master is expected
  out_of_memory,  // maxmemory is reached and the server does not evict
  loading,        // the server is starting, or waits for its master
  cluster_down,   // slots without a server
  refused,        // any other error
  garbled,        // the reply could not be parsed
  disagreement    // the reply differs from what the core decides on the returned states
};
inline constexpr std::size_t store_error_kinds = 11;

[[nodiscard]] constexpr std::string_view name_of(StoreError error) noexcept {
  constexpr std::array<std::string_view, store_error_kinds> names{
      "unreachable", "credentials",  "lost",    "timeout", "read_only",   "out_of_memory",
      "loading",     "cluster_down", "refused", "garbled", "disagreement"};
  return names[static_cast<std::size_t>(error)];
}

// The last error of a server. Thread-safe.
class LastStoreError {
 public:
  struct Entry {
    std::string text;  // empty: no error yet
    Instant at{};      // the time, by the wall clock
  };

  void set(std::string text, Instant at) {
    const std::scoped_lock lock(mutex_);
    entry_ = {std::move(text), at};
  }
  [[nodiscard]] Entry get() const {
    const std::scoped_lock lock(mutex_);
    return entry_;
  }

 private:
  mutable std::mutex mutex_;
  Entry entry_;
};

inline constexpr std::size_t store_failures = 6;  // number of Failure values

struct StoreCounts {
  // Groups by result, and those that submit() rejected at once.
  std::array<base::Counter, store_failures> groups;
  base::Counter turned_away;

  // Traffic to the servers. A batch is one write; one evaluation can decide several groups.
  base::Counter batches;
  base::Counter evaluations;
  base::Histogram<batch_size_scale> batch_size;  // in groups
  base::Histogram<round_trip_scale> round_trip;  // duration of an evaluation, until its reply
  base::Counter late_answers;                    // evaluations answered after their deadline
  base::Counter sent_again;  // evaluations repeated because a server had rejected them before starting

  // Groups with keys in several slots.
  base::Counter split_groups;
  base::Counter refunds;       // charges given back because another part denied or failed
  base::Counter lost_refunds;  // failed refunds: the charges count until they expire

  std::array<base::Counter, store_error_kinds> errors;
  LastStoreError last_error;

  // Servers: total, connected, by breaker state, and how often breakers opened and closed.
  base::Gauge servers;
  base::Gauge connected;
  std::array<base::Gauge, breaker_states> breakers;
  base::Counter opened;
  base::Counter closed;
  base::Gauge unavailable_since;  // wall clock, in microseconds; 0 if every breaker is closed

  // These are reported by the servers.
  base::Counter evicted_keys;  // while connected
  base::Gauge evicting;        // servers whose maxmemory-policy is not noeviction
  base::Gauge clock_offset;    // microseconds by which the server clock is ahead of ours, from the last answer

  base::Counter& of(Failure failure) noexcept { return groups[static_cast<std::size_t>(failure)]; }
  base::Counter& of(StoreError error) noexcept { return errors[static_cast<std::size_t>(error)]; }
  base::Gauge& of(BreakerState state) noexcept { return breakers[static_cast<std::size_t>(state)]; }

  // Returns the worst breaker state.
  [[nodiscard]] BreakerState breaker() const noexcept {
    for (const BreakerState state : {BreakerState::open, BreakerState::half_open}) {
      if (breakers[static_cast<std::size_t>(state)].value() > 0) return state;
    }
    return BreakerState::closed;
  }
};

}  // namespace weir::store
