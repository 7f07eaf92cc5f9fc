// The time of the block being decided. All contenders use it, so all pay the same: one clock read per 32 decisions.
// Each thread has its own, so that threads do not share the clock.
#pragma once

#include <chrono>
#include <stop_token>

#include "weir/clock.h"

namespace bench::table {

class BlockClock final : public weir::Clock {
 public:
  static void refresh() noexcept {
    stored() = std::chrono::time_point_cast<weir::Duration>(std::chrono::system_clock::now());
  }

  [[nodiscard]] static weir::Instant block_time() noexcept { return stored(); }

  [[nodiscard]] weir::Instant now() const noexcept override { return stored(); }

  // Nothing waits in this benchmark.
  void wait_until(weir::Instant, std::stop_token) const override {}

 private:
  static weir::Instant& stored() noexcept {
    static constinit thread_local weir::Instant time{};
    return time;
  }
};

}  // namespace bench::table
