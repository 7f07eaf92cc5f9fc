// Generates traffic: the times of requests, in order, on virtual time. Deterministic for the same
// arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "weir/time.h"

namespace bench::traffic {

using Arrivals = std::vector<weir::Instant>;

// A round time: the boundary of two windows of any length that divides a day.
inline constexpr weir::Instant epoch = std::chrono::sys_days{std::chrono::year{2024} / 2 / 29};

// Independent requests, `mean_gap` apart on average.
Arrivals poisson(weir::Duration mean_gap, weir::Duration length, std::uint64_t seed);

// Periods of Poisson traffic and of silence, both with exponentially distributed lengths.
struct OnOff {
  weir::Duration mean_on;
  weir::Duration mean_off;
  weir::Duration mean_gap;  // within a period of traffic
};
Arrivals on_off(const OnOff& shape, weir::Duration length, std::uint64_t seed);

// An attacker who knows when windows end: `burst` requests just before a boundary and `burst` just after it,
// then one every `gap` (none if zero) until the next boundary; then silence for one window, and again.
struct SeamAttack {
  weir::Duration window;
  unsigned burst;
  weir::Duration gap;
};
Arrivals seam_attack(const SeamAttack& attack, weir::Duration length);

}  // namespace bench::traffic
