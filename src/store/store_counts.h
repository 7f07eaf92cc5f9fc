// What a shared store has been through, in numbers. One for each loop: the loop's thread writes, any thread reads.
//
// A store writes into the counts of whoever made it, which outlive it.
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
// In microseconds.
inline constexpr base::Scale<13> round_trip_scale{
    6, {50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000}};

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
  std::array<base::Counter, store_failures> groups;
  base::Counter turned_away;

  // Of what went to the servers. A batch is one write; several groups may be one evaluation.
  base::Counter batches;
  base::Counter evaluations;
  base::Histogram<batch_size_scale> batch_size;  // in groups
  base::Histogram<round_trip_scale> round_trip;  // of an evaluation
  base::Counter late_answers;                    // of evaluations, when nobody waited any more
  base::Counter sent_again;                      // evaluations that a server had refused to begin

  // Of groups with keys in several slots.
  base::Counter split_groups;
  base::Counter refunds;       // charges of some of them, given back because others denied or failed
  base::Counter lost_refunds;  // that could not be: they count until they expire

  std::array<base::Counter, store_error_kinds> errors;
  StoreComplaint last_error;

  // Of servers: how many there are, and of them connected; by the state of their breakers; how often those opened.
  base::Gauge servers;
  base::Gauge connected;
  std::array<base::Gauge, breaker_states> breakers;
  base::Counter opened;
  base::Counter closed;
  base::Gauge unavailable_since;  // the wall clock's microseconds, while any breaker is not closed; otherwise 0

  // What the servers say.
  base::Counter evicted_keys;  // while we were connected
  base::Gauge evicting;        // servers whose maxmemory-policy is not noeviction
  base::Gauge clock_offset;    // microseconds that the servers' clock is ahead of ours, by the last answer

  base::Counter& of(Failure failure) noexcept { return groups[static_cast<std::size_t>(failure)]; }
  base::Counter& of(StoreError error) noexcept { return errors[static_cast<std::size_t>(error)]; }
  base::Gauge& of(BreakerState state) noexcept { return breakers[static_cast<std::size_t>(state)]; }

  // The worst of them.
  [[nodiscard]] BreakerState breaker() const noexcept {
    for (const BreakerState state : {BreakerState::open, BreakerState::half_open}) {
      if (breakers[static_cast<std::size_t>(state)].value() > 0) return state;
    }
    return BreakerState::closed;
  }
};

}  // namespace weir::store
