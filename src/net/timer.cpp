#include "net/timer.h"

#include <utility>

#include "net/alarms.h"
#include "net/loop.h"

namespace weir::net {

Timer::Timer(Loop& loop) : alarms_(loop.alarms()), alarm_(std::make_unique<Alarm>()) {}

Timer::~Timer() {
  cancel();
}

void Timer::set(std::chrono::steady_clock::time_point when, std::function<void()> work) {
  alarms_.set(*alarm_, when, std::move(work));
}

void Timer::cancel() {
  alarms_.cancel(*alarm_);
}

}  // namespace weir::net
