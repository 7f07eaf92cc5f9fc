// The ways in which a caller can estimate the cost of a request in advance, to reserve it.
//
//   report       reserves nothing: the request is checked at cost 0 and charged when it ends
//   4096         a fixed cost
//   max          the largest cost so far on the same route
//   p95 of 100   the 95th percentile of the last 100 costs on the same route
//
// A request has one cost for all its limits, so an estimate belongs to a route (the most specific one, as in reports),
// not to a limit. It learns only what a caller can know: the costs of admitted requests, at the time when they end.
// Before the first request of a route has ended, the estimate is 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "weir/cost.h"
#include "weir/result.h"

namespace weir::simulate {

struct Estimate {
  enum class Kind : std::uint8_t { report, fixed, largest, quantile };

  static constexpr std::uint64_t max_sample = 10'000;

  Kind kind = Kind::report;
  Cost fixed{0};
  std::uint64_t percent = 0;  // the percentage of a quantile, from 1 to 99
  std::uint64_t last = 0;     // the sample size of a quantile

  // Does not accept `report`, which every simulation with estimates includes.
  [[nodiscard]] static Result<Estimate> read(const std::string& text);
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Estimates costs from ended requests. Not thread-safe.
class Estimator {
 public:
  Estimator(const Estimate& estimate, std::size_t routes) : estimate_(estimate), routes_(routes) {}

  [[nodiscard]] Cost of(std::uint32_t number) const noexcept;
  // Called when a request has ended.
  void learn(std::uint32_t number, Cost actual);

 private:
  struct Route {
    Cost largest{0};
    bool has_ended = false;
    std::deque<std::uint64_t> last;     // the costs in the sample, oldest first
    std::vector<std::uint64_t> sorted;  // the same costs in ascending order
  };

  Estimate estimate_;
  std::vector<Route> routes_;
};

}  // namespace weir::simulate
