// One limit for one thing: an outgoing connection, a job queue, a whole process.
// Callable from any thread. For a limit per user, address or key: KeyedLimiter.
//
// A limit on what is held at once (Limit::concurrency) is asked by reserve(): what is held is given back by a receipt,
// so check() and acquire(), which give none, are denied for good there.
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
  // Without a clock: by the time of day (WallClock).
  static Result<Limiter> create(const Limit& limit);
  static Result<Limiter> create(const Limit& limit, std::shared_ptr<const Clock> clock);

  Limiter(Limiter&&) noexcept;
  Limiter& operator=(Limiter&&) noexcept;
  ~Limiter();

  // Admits and charges, or denies and changes nothing.
  Decision check(Cost cost = Cost{1});

  // What check(cost) would answer; of a limit on what is held at once, what reserve(cost) would. Charges nothing.
  [[nodiscard]] Decision peek(Cost cost = Cost{1}) const;

  // Waits until admitted. Returns a denial at once if that would be after `deadline` or never, and
  // when a stop is requested. A caller with a turn to wait for (queue) returns at its turn.
  Decision acquire(Cost cost, Instant deadline, std::stop_token stop = {});

  // For at most so long: 200ms, 5s. Without a length of time, for as long as it takes.
  template <class Rep, class Period>
  Decision acquire(Cost cost, std::chrono::duration<Rep, Period> at_most, std::stop_token stop = {}) {
    return acquire_within(cost, to_duration(at_most), std::move(stop));
  }
  Decision acquire(Cost cost = Cost{1}, std::stop_token stop = {}) {
    return acquire(cost, Instant::max(), std::move(stop));
  }
  // Until a point in time of any other clock, as far away as that clock says now.
  template <class AnyClock, class Length>
  Decision acquire(Cost cost, std::chrono::time_point<AnyClock, Length> deadline, std::stop_token stop = {}) {
    return acquire_within(cost, duration_until(deadline), std::move(stop));
  }

  // Receipts, as KeyedLimiter has them; there each is described. At most 1,024 are open at once.
  Reservation reserve(Cost cost = Cost{1}, Duration lasts = Duration::zero(), std::string_view id = {});
  ReceiptAnswer settle(const Receipt& receipt, Cost actual);
  ReceiptAnswer release(const Receipt& receipt) { return settle(receipt, Cost{0}); }
  ReceiptAnswer extend(const Receipt& receipt, Duration lasts = Duration::zero());
  ReceiptAnswer report(Cost cost, std::string_view id = {});

  // As if never used, without receipts.
  void reset();

 private:
  Decision acquire_within(Cost cost, Duration at_most, std::stop_token stop);

  struct Body;
  explicit Limiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
