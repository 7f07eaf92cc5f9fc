// Axes with round numbers on them, for charts of one size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/time.h"

namespace weir::simulate::html {

// Where a chart draws, in the units of its viewBox. Around it there is room for labels.
struct Frame {
  double left = 56;
  double right = 708;
  double top = 24;
  double bottom = 216;
  double width = 720;   // of the whole
  double height = 252;  // of the whole

  [[nodiscard]] double across() const noexcept { return right - left; }
  [[nodiscard]] double down() const noexcept { return bottom - top; }
};

struct Tick {
  double at = 0;  // from 0 to 1 along the axis
  std::string label;
};

// From zero to a round number that is at least `most`.
struct LinearAxis {
  explicit LinearAxis(double most);

  double top = 1;
  std::vector<Tick> ticks;
};

// From one half to a power of ten, so that a bar of one can be seen.
struct LogAxis {
  explicit LogAxis(double most);

  [[nodiscard]] double place_of(double value) const noexcept;

  double top = 10;
  std::vector<Tick> ticks;
};

// Times in UTC, at most about seven.
[[nodiscard]] std::vector<Tick> time_ticks(Instant from, Instant to);

// Horizontal lines with their labels on the left, and the name of the axis above.
[[nodiscard]] std::string draw_vertical(const Frame& frame, const std::vector<Tick>& ticks, const std::string& name);

// Labels below.
[[nodiscard]] std::string draw_horizontal(const Frame& frame, const std::vector<Tick>& ticks, const std::string& name);

}  // namespace weir::simulate::html
