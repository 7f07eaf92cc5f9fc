// Timers of a loop. Used only on the loop's thread.
#pragma once

#include <functional>
#include <map>

#include "net/loop.h"
#include "net/poller.h"

namespace weir::net {

// Runs a function once at a given time, with the precision of the system's timers. It may be set again, cancelled or
// destroyed at any time, even by the function.
class Timer {
 public:
  explicit Timer(Loop& loop) noexcept : queue_(loop.timers()) {}
  explicit Timer(TimerQueue& queue) noexcept : queue_(queue) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces an earlier setting.
  void set(SteadyTime when, std::function<void()> work);
  void cancel() noexcept;

 private:
  friend class TimerQueue;
  using Waiting = std::multimap<SteadyTime, Timer*>;

  [[nodiscard]] std::function<void()> take() noexcept;

  TimerQueue& queue_;
  std::function<void()> work_;  // empty unless set
  Waiting::iterator position_;  // valid while set
  Waiting::node_type node_;     // reused by the next set(), to avoid an allocation
};

// The timers of one loop, driven by one system timer. Internal to src/net. The system timer is set for the first timer
// or earlier. Cancelling or postponing a timer does not change it, so timeouts that never fire cost no system calls.
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
