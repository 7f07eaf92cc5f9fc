// The timers of one loop, by one timer of the system. Internal to the room; others have a Timer. All on the loop's
// thread.
//
// The system's timer is set for the first of them, or earlier: one that is cancelled or put off leaves it alone, so
// that time-outs which never happen cost no system calls.
#pragma once

#include <functional>
#include <map>

#include "net/poller.h"
#include "net/session.h"
#include "net/watched.h"

namespace weir::net {

struct Alarm;
using AlarmQueue = std::multimap<Moment, Alarm*>;

struct Alarm {
  std::function<void()> work;  // empty: not set
  AlarmQueue::iterator place;  // if it is set
  AlarmQueue::node_type node;  // if it was set before, and is not now: so that it takes no memory again
};

class Alarms final : private Watcher {
 public:
  explicit Alarms(Poller& poller);  // throws std::system_error

  void set(Alarm& alarm, Moment when, std::function<void()> work);  // in place of what it was set to
  void cancel(Alarm& alarm) noexcept;

 private:
  void on_ready(Readiness ready) override;
  [[nodiscard]] std::function<void()> take(Alarm& alarm) noexcept;
  void wake_at(Moment when) noexcept;

  AlarmQueue queue_;
  Moment waking_at_ = Moment::max();
  Watched timer_;
};

}  // namespace weir::net
