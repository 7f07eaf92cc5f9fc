#include "traffic/traffic.h"

#include <cmath>
#include <random>

namespace bench::traffic {
namespace {

// Exponentially distributed, at least 1 us. Implemented here, because the standard library's
// distributions may change between versions.
class Gaps {
 public:
  explicit Gaps(std::uint64_t seed) : generator_(seed) {}

  weir::Duration next(weir::Duration mean) {
    constexpr double steps = 9'007'199'254'740'992.0;  // 2^53
    const double uniform = (static_cast<double>(generator_() >> 11) + 1.0) / steps;
    return weir::Duration{1 + std::llround(-std::log(uniform) * static_cast<double>(mean.count()))};
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace

Arrivals poisson(weir::Duration mean_gap, weir::Duration length, std::uint64_t seed) {
  Gaps gaps(seed);
  Arrivals arrivals;
  for (weir::Instant at = epoch; (at += gaps.next(mean_gap)) < epoch + length;) arrivals.push_back(at);
  return arrivals;
}

Arrivals on_off(const OnOff& shape, weir::Duration length, std::uint64_t seed) {
  Gaps gaps(seed);
  Arrivals arrivals;
  for (weir::Instant at = epoch; at < epoch + length; at += gaps.next(shape.mean_off)) {
    const weir::Instant end = std::min(at + gaps.next(shape.mean_on), epoch + length);
    for (; at < end; at += gaps.next(shape.mean_gap)) arrivals.push_back(at);
  }
  return arrivals;
}

Arrivals seam_attack(const SeamAttack& attack, weir::Duration length) {
  constexpr weir::Duration spacing{1};
  Arrivals arrivals;
  for (weir::Instant seam = epoch + attack.window; seam < epoch + length; seam += 3 * attack.window) {
    for (weir::Instant at = seam - attack.burst * spacing; at < seam; at += spacing) arrivals.push_back(at);
    for (weir::Instant at = seam; at < seam + attack.burst * spacing; at += spacing) arrivals.push_back(at);
    if (attack.gap == weir::Duration::zero()) continue;
    const weir::Instant stream = seam + attack.burst * spacing;
    for (weir::Instant at = stream; at < seam + attack.window; at += attack.gap) arrivals.push_back(at);
  }
  return arrivals;
}

}  // namespace bench::traffic
