// One limit for one thing: an outgoing connection, a job queue, a whole process.
// Callable from any thread. For a limit per user, address or key: KeyedLimiter.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>

#include "weir/clock.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
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

  // What check(cost) would answer. Charges nothing.
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

  // Gives back `cost` of a charge: of a bucket, what has not flowed in again since.
  void refund(Cost cost, const Decision& charge);

  // Corrects a charge of `reserved` to what it turned out to be. Never denied: what is more than was
  // reserved is charged now, into a debt of at most one capacity.
  void settle(Cost reserved, Cost actual, const Decision& charge);

  // As if never used.
  void reset();

 private:
  Decision acquire_within(Cost cost, Duration at_most, std::stop_token stop);

  struct Body;
  explicit Limiter(std::unique_ptr<Body> body) noexcept;
  std::unique_ptr<Body> body_;
};

}  // namespace weir
