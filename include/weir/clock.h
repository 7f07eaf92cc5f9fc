// SPDX-License-Identifier: Apache-2.0
// The time source of a limiter, and how it waits. Use WallClock in a program and ManualClock in a test.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include "weir/time.h"

namespace weir {

// Callable from any thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const noexcept = 0;

  // Returns at `until`, or earlier when a stop is requested.
  virtual void wait_until(Instant until, std::stop_token stop) const = 0;
};

// Steady time that follows the wall clock and never goes back. It follows a forward step of the wall clock at once, and
// runs at half speed after a backward step until the wall clock has caught up.
class WallClock final : public Clock {
 public:
  WallClock();
  ~WallClock() override;

  [[nodiscard]] Instant now() const noexcept override;
  void wait_until(Instant until, std::stop_token stop) const override;

 private:
  struct Discipline;
  std::unique_ptr<Discipline> discipline_;
};

// Time that advances only through set() and advance(). Waiters wake when it reaches their deadline.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{}) : now_(start) {}

  [[nodiscard]] Instant now() const noexcept override;
  void wait_until(Instant until, std::stop_token stop) const override;

  void set(Instant now);
  void advance(Duration by);

  // Returns once `count` callers are inside wait_until, so that a test can advance time only then.
  void await_waiters(int count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable int waiters_ = 0;
  Instant now_;
};

}  // namespace weir
