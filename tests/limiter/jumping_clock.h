// Time that jumps to the end of every wait, so that one thread can wait. A test may act in between.
#pragma once

#include <algorithm>
#include <functional>
#include <stop_token>
#include <utility>

#include "weir/clock.h"

namespace weir {

class JumpingClock final : public Clock {
 public:
  explicit JumpingClock(Instant start) : now_(start) {}

  [[nodiscard]] Instant now() const noexcept override { return now_; }

  void wait_until(Instant until, std::stop_token stop) const override {
    ++waits;
    if (while_waiting) std::exchange(while_waiting, nullptr)();
    if (!stop.stop_requested()) now_ = std::max(now_, until);
  }

  void set(Instant now) { now_ = now; }
  void advance(Duration by) { now_ += by; }

  mutable int waits = 0;
  mutable std::function<void()> while_waiting;  // once

 private:
  mutable Instant now_;
};

}  // namespace weir
