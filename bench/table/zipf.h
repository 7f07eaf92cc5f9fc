// Numbers 1 to n, where k comes up in proportion to k^-exponent. Sampled by rejection-inversion
// (Hoermann and Derflinger, 1996): exact, and without a table of n entries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace bench::table {

class Zipf {
 public:
  // `exponent` is positive and not one.
  Zipf(std::uint32_t n, double exponent)
      : exponent_(exponent),
        n_(n),
        area_low_(area(1.5) - 1.0),
        area_high_(area(n + 0.5)),
        shortcut_(2.0 - inverse_area(area(2.5) - weight(2.0))) {}

  template <class Generator>
  std::uint32_t operator()(Generator& generator) {
    std::uniform_real_distribution<double> uniform(area_low_, area_high_);
    while (true) {
      const double drawn = uniform(generator);
      const double x = inverse_area(drawn);
      const double k = std::clamp(std::round(x), 1.0, static_cast<double>(n_));
      if (k - x <= shortcut_ || drawn >= area(k + 0.5) - weight(k)) return static_cast<std::uint32_t>(k);
    }
  }

 private:
  [[nodiscard]] double weight(double x) const { return std::pow(x, -exponent_); }

  // An antiderivative of weight, and its inverse.
  [[nodiscard]] double area(double x) const { return std::pow(x, 1.0 - exponent_) / (1.0 - exponent_); }
  [[nodiscard]] double inverse_area(double y) const { return std::pow(y * (1.0 - exponent_), 1.0 / (1.0 - exponent_)); }

  double exponent_;
  std::uint32_t n_;
  double area_low_;
  double area_high_;
  double shortcut_;  // a draw this close above its number is accepted immediately
};

}  // namespace bench::table
