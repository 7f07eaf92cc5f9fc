// Where a limiter reads the time, and how it waits. Pass one in: WallClock in a program,
// ManualClock in a test.
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

// Steady time that follows the wall clock: a step of the wall clock forward is taken at once, a step
// back by running at half speed until caught up. It never goes back.
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

// Time that moves only when told to. Waiters wake when it reaches them.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{}) : now_(start) {}

  [[nodiscard]] Instant now() const noexcept override;
  void wait_until(Instant until, std::stop_token stop) const override;

  void set(Instant now);
  void advance(Duration by);

  // Returns once `count` callers are inside wait_until; lets a test advance time only then.
  void await_waiters(int count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable int waiters_ = 0;
  Instant now_;
};

}  // namespace weir
