// Does something once, at a time, on the loop's thread; to the precision of the system's timers. Used on that thread
// only. May be set anew, cancelled or destroyed at any time, also from within what it does.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace weir::net {

class Alarms;
class Loop;
struct Alarm;

class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // In place of what it was set to.
  void set(std::chrono::steady_clock::time_point when, std::function<void()> work);
  void cancel();

 private:
  Alarms& alarms_;
  std::unique_ptr<Alarm> alarm_;
};

}  // namespace weir::net
