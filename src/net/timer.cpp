#include "net/timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace weir::net {

void Timer::set(SteadyTime when, std::function<void()> work) {
  cancel();
  if (node_) {
    node_.key() = when;
    position_ = queue_.waiting_.insert(std::move(node_));
  } else {
    position_ = queue_.waiting_.emplace(when, this);
  }
  work_ = std::move(work);
  if (when < queue_.waking_at_) queue_.wake_at(when);
}

void Timer::cancel() noexcept {
  if (work_) (void)take();
}

std::function<void()> Timer::take() noexcept {
  node_ = queue_.waiting_.extract(position_);
  return std::exchange(work_, nullptr);
}

TimerQueue::TimerQueue(Poller& poller) : clock_(poller, *this) {
  Descriptor clock(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));  // the clock of steady_clock
  if (!clock.open() || !clock_.take(std::move(clock), Interest::input)) {
    throw std::system_error(errno, std::system_category(), "timer");
  }
}

// Runs at most as many timers as are set now, so that a timer that sets itself again for a past time waits for the next
// round.
void TimerQueue::on_ready(Readiness /*input*/) {
  std::uint64_t expirations = 0;
  (void)!::read(clock_.number(), &expirations, sizeof expirations);
  const SteadyTime now = SteadyTime::clock::now();
  for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty() && waiting_.begin()->first <= now; --left) {
    const std::function<void()> work = waiting_.begin()->second->take();
    work();
  }
  wake_at(waiting_.empty() ? SteadyTime::max() : waiting_.begin()->first);
}

void TimerQueue::wake_at(SteadyTime when) noexcept {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  waking_at_ = when;
  if (when == SteadyTime::max()) return;
  const auto since = std::max(when.time_since_epoch(), SteadyTime::duration(1));  // zero would disarm the timer
  const auto whole = std::chrono::duration_cast<seconds>(since);
  itimerspec setting{};
  setting.it_value.tv_sec = whole.count();
  setting.it_value.tv_nsec = std::chrono::duration_cast<nanoseconds>(since - whole).count();
  ::timerfd_settime(clock_.number(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

}  // namespace weir::net
