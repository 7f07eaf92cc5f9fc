// Runs one limit on one traffic, on virtual time.
#pragma once

#include <cstddef>
#include <vector>

#include "traffic/traffic.h"
#include "weir/limit.h"

namespace bench::accuracy {

struct Admitted {
  std::size_t total = 0;
  std::size_t worst_stretch = 0;        // the maximum in any interval of one window
  std::vector<std::size_t> per_window;  // in consecutive intervals of one window, with window boundaries in the middle
};

Admitted run(const weir::Limit& limit, weir::Duration window, const traffic::Arrivals& arrivals);

// The excess and the shortfall compared with the exact log, per interval, as shares of what the log admitted. Excess in
// one interval does not offset shortfall in another.
struct Deviation {
  double over = 0;
  double under = 0;
};

Deviation deviation(const Admitted& admitted, const Admitted& exact);

}  // namespace bench::accuracy
