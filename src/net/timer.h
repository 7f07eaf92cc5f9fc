// Timers on a loop. All on the loop's thread.
#pragma once

#include <functional>
#include <map>

#include "net/loop.h"
#include "net/poller.h"

namespace weir::net {

// Runs a function once, at a time, to the precision of the system's timers. It may be set again, cancelled or destroyed
// at any time, also from within the function.
class Timer {
 public:
  explicit Timer(Loop& loop) noexcept : queue_(loop.timers()) {}
  explicit Timer(TimerQueue& queue) noexcept : queue_(queue) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // In place of what it was set to.
  void set(SteadyTime when, std::function<void()> work);
  void cancel() noexcept;

 private:
  friend class TimerQueue;
  using Waiting = std::multimap<SteadyTime, Timer*>;

  [[nodiscard]] std::function<void()> take() noexcept;

  TimerQueue& queue_;
  std::function<void()> work_;  // empty: not set
  Waiting::iterator place_;     // while it is set
  Waiting::node_type node_;     // after it was set, and while it is not: so that it takes no memory again
};

// The timers of one loop, by one timer of the system. Internal to src/net.
//
// The system's timer is set for the first of them, or earlier: one that is cancelled or put off leaves it alone, so
// that timeouts which never happen cost no system calls.
class TimerQueue final : private Watcher {
 public:
  explicit TimerQueue(Poller& poller);  // throws std::system_error

 private:
  friend class Timer;

  void on_ready(Readiness ready) override;
  void wake_at(SteadyTime when) noexcept;

  Timer::Waiting waiting_;
  SteadyTime waking_at_ = SteadyTime::max();
  Watched clock_;
};

}  // namespace weir::net
