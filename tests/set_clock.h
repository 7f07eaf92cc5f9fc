// A clock that shows the time it is set to, for folders that may not include ManualClock.
#pragma once

#include <stop_token>

#include "weir/clock.h"

namespace weir {

class SetClock final : public Clock {
 public:
  explicit SetClock(Instant now) : now_(now) {}
  [[nodiscard]] Instant now() const noexcept override { return now_; }
  void wait_until(Instant /*until*/, std::stop_token /*stop*/) const override {}
  void set(Instant now) noexcept { now_ = now; }
  void advance(Duration by) noexcept { now_ += by; }

 private:
  Instant now_;
};

}  // namespace weir
