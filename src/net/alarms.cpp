#include "net/alarms.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace weir::net {

Alarms::Alarms(Poller& poller) : timer_(poller, *this) {
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));  // what steady_clock reads
  if (!timer.open() || !timer_.take(std::move(timer), Interest::input)) {
    throw std::system_error(errno, std::system_category(), "timer");
  }
}

void Alarms::set(Alarm& alarm, Moment when, std::function<void()> work) {
  cancel(alarm);
  if (alarm.node) {
    alarm.node.key() = when;
    alarm.place = queue_.insert(std::move(alarm.node));
  } else {
    alarm.place = queue_.emplace(when, &alarm);
  }
  alarm.work = std::move(work);
  if (when < waking_at_) wake_at(when);
}

void Alarms::cancel(Alarm& alarm) noexcept {
  if (alarm.work) (void)take(alarm);
}

std::function<void()> Alarms::take(Alarm& alarm) noexcept {
  alarm.node = queue_.extract(alarm.place);
  return std::exchange(alarm.work, nullptr);
}

// As many as there are, at most: one that sets itself anew for a time that has passed waits for the next round.
void Alarms::on_ready(Readiness /*it rings*/) {
  std::uint64_t rings = 0;
  (void)!::read(timer_.number(), &rings, sizeof rings);
  const Moment now = Moment::clock::now();
  for (std::size_t left = queue_.size(); left > 0 && !queue_.empty() && queue_.begin()->first <= now; --left) {
    const std::function<void()> work = take(*queue_.begin()->second);
    work();
  }
  wake_at(queue_.empty() ? Moment::max() : queue_.begin()->first);
}

void Alarms::wake_at(Moment when) noexcept {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  waking_at_ = when;
  if (when == Moment::max()) return;
  const auto since = std::max(when.time_since_epoch(), Moment::duration(1));  // nothing would mean never
  const auto whole = std::chrono::duration_cast<seconds>(since);
  itimerspec setting{};
  setting.it_value.tv_sec = whole.count();
  setting.it_value.tv_nsec = std::chrono::duration_cast<nanoseconds>(since - whole).count();
  ::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

}  // namespace weir::net
