// How many lines may be written: a bound for each second, and a count of what it left out. Callable from any thread.
//
// A clock that steps back by more than a second begins a second anew; else the gate would stay shut until the clock is
// where it was.
#pragma once

#include <atomic>
#include <cstdint>

#include "weir/time.h"

namespace weir::observe {

class LineGate {
 public:
  explicit LineGate(std::uint32_t lines_per_second) noexcept : most_(lines_per_second) {}

  [[nodiscard]] bool pass(Instant now) noexcept;

  // How many were left out in a second that is over, each told once.
  [[nodiscard]] std::uint64_t take_suppressed(Instant now) noexcept;

 private:
  const std::uint32_t most_;
  std::atomic<std::uint64_t> passed_{0};  // the second in the upper half, the lines that passed in the lower
  std::atomic<std::uint64_t> suppressed_{0};
};

}  // namespace weir::observe
