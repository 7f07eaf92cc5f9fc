// One limit over one traffic, on virtual time, and what it let pass.
#pragma once

#include <cstddef>
#include <vector>

#include "traffic/traffic.h"
#include "weir/limit.h"

namespace bench::accuracy {

struct Admitted {
  std::size_t total = 0;
  std::size_t worst_stretch = 0;        // the most in any stretch of one window
  std::vector<std::size_t> per_window;  // in stretches of one window, one after the other, seams in the middle
};

Admitted run(const weir::Limit& limit, weir::Duration window, const traffic::Arrivals& arrivals);

// How much more and how much less was admitted than by the exact log, stretch by stretch, as shares of what
// the log admitted. What is too much in one stretch does not make up for what is too little in another.
struct Deviation {
  double over = 0;
  double under = 0;
};

Deviation deviation(const Admitted& admitted, const Admitted& exact);

}  // namespace bench::accuracy
