// Virtual time: events run in order of time; events of one time, in order of creation.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace weir::simulation {

using Micros = std::int64_t;

class EventQueue {
 public:
  using Work = std::function<void()>;

  [[nodiscard]] Micros now() const noexcept { return now_; }

  void at(Micros time, Work work) { events_.push({std::max(time, now_), next_++, std::move(work)}); }
  void after(Micros delay, Work work) { at(now_ + delay, std::move(work)); }

  // Runs all events up to `end`, including those that they create.
  void run_until(Micros end) {
    while (!events_.empty() && events_.top().time <= end) {
      Event event = events_.top();
      events_.pop();
      now_ = event.time;
      event.work();
    }
    now_ = end;
  }

 private:
  struct Event {
    Micros time;
    std::uint64_t sequence;
    Work work;

    bool operator<(const Event& other) const noexcept {  // the queue returns the greatest first
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  Micros now_ = 0;
  std::uint64_t next_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace weir::simulation
