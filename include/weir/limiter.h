// SPDX-License-Identifier: Apache-2.0
// One limit for one thing: an outgoing connection, a job queue, a whole process. Callable from any thread. For a limit
// per user, address or key, use KeyedLimiter.
//
// Use reserve() with a concurrency limit (Limit::concurrency): its units are released by a receipt, so check() and
// acquire(), which return none, always deny there.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/receipt.h"
#include "weir/result.h"
#include "weir/to_duration.h"

namespace weir {

class Limiter {
 public:
  // Uses WallClock if no clock is given.
  static Result<Limiter> create(const Limit& limit);
  static Result<Limiter> create(const Limit& limit, std::shared_ptr<const Clock> clock);

  Limiter(Limiter&&) noexcept;
  Limiter& operator=(Limiter&&) noexcept;
  ~Limiter();

  // Admits and charges, or denies and changes nothing.
  Decision check(Cost cost = Cost{1});

  // Returns what check(cost) would return; for a concurrency limit, what reserve(cost) would. Charges nothing.
  [[nodiscard]] Decision peek(Cost cost = Cost{1}) const;

  // Waits until admitted. Returns a denial at once if that would be after `deadline` or never, and when a stop is
  // requested. A caller admitted to a queue returns at its turn.
  Decision acquire(Cost cost, Instant deadline, std::stop_token stop = {});

  // Waits at most this long: 200ms, 5s. Without a duration, waits indefinitely.
  template <class Rep, class Period>
  Decision acquire(Cost cost, std::chrono::duration<Rep, Period> at_most, std::stop_token stop = {}) {
    return acquire_within(cost, to_duration(at_most), std::move(stop));
  }
  Decision acquire(Cost cost = Cost{1}, std::stop_token stop = {}) {
    return acquire(cost, Instant::max(), std::move(stop));
  }
  // Accepts a deadline of any other clock, converted by its distance from that clock's current time.
  template <class AnyClock, class Length>
  Decision acquire(Cost cost, std::chrono::time_point<AnyClock, Length> deadline, std::stop_token stop = {}) {
    return acquire_within(cost, duration_until(deadline), std::move(stop));
  }

  // Receipts work as described in KeyedLimiter. At most 1,024 are open at once.
  Reservation reserve(Cost cost = Cost{1}, Duration lasts = Duration::zero(), std::string_view id = {});
  ReceiptAnswer settle(const Receipt& receipt, Cost actual);
  ReceiptAnswer release(const Receipt& receipt) { return settle(receipt, Cost{0}); }
  ReceiptAnswer extend(const Receipt& receipt, Duration lasts = Duration::zero());
  ReceiptAnswer report(Cost cost, std::string_view id = {});

  // Forgets all usage and receipts.
  void reset();

 private:
  Decision acquire_within(Cost cost, Duration at_most, std::stop_token stop);

  struct Body;
  explicit Limiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
