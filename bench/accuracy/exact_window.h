// The maximum number of requests admitted in any interval of one window, to the microsecond.
#pragma once

#include <cstddef>
#include <deque>

#include "weir/time.h"

namespace bench::accuracy {

class ExactWindow {
 public:
  explicit ExactWindow(weir::Duration window) : window_(window) {}

  // Must be called in order of time.
  void admit(weir::Instant at);

  [[nodiscard]] std::size_t worst() const noexcept { return worst_; }

 private:
  weir::Duration window_;
  std::deque<weir::Instant> admitted_;  // those in (newest - window, newest]
  std::size_t worst_ = 0;
};

}  // namespace bench::accuracy
