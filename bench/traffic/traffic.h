// Traffic to limit: the instants of its requests, in order, on virtual time. The same arguments give the
// same instants.
#pragma once

#include <cstdint>
#include <vector>

#include "weir/time.h"

namespace bench::traffic {

using Arrivals = std::vector<weir::Instant>;

// A round instant: the seam of two windows of any length that divides a day.
inline constexpr weir::Instant epoch = std::chrono::sys_days{std::chrono::year{2024} / 2 / 29};

// Independent requests, `mean_gap` apart on average.
Arrivals poisson(weir::Duration mean_gap, weir::Duration length, std::uint64_t seed);

// Spells of Poisson traffic with silences between them. Both last exponentially long.
struct OnOff {
  weir::Duration mean_on;
  weir::Duration mean_off;
  weir::Duration mean_gap;  // within a spell
};
Arrivals on_off(const OnOff& shape, weir::Duration length, std::uint64_t seed);

// An attacker who knows when windows end: `burst` requests just before a seam and `burst` just after it,
// then one every `gap` (none if zero) until the next seam; then silence until one window later, and again.
struct SeamAttack {
  weir::Duration window;
  unsigned burst;
  weir::Duration gap;
};
Arrivals seam_attack(const SeamAttack& attack, weir::Duration length);

}  // namespace bench::traffic
