// What a request is taken to cost before it is known: how a caller would reserve.
//
//   report       nothing is reserved: the request is checked with a cost of nothing, and charged at its end
//   4096         always so much
//   max          the largest cost so far of the same route
//   p95 of 100   what 95 in a hundred of the last 100 of the same route did not exceed
//
// A request carries one cost for all its limits, so that an estimate is of a route (the most specific one, as reports
// name it) and not of a limit. It learns what a caller could: the cost of a request that was admitted, when it ends.
// Before the first has ended on a route, a request is taken to cost 1.
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
  std::uint64_t percent = 0;  // of a quantile, from 1 to 99,
  std::uint64_t last = 0;     // over so many requests

  // All but `report`, which is there in any case.
  [[nodiscard]] static Result<Estimate> read(const std::string& text);
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Estimates by one rule, from what has ended. One thread.
class Estimator {
 public:
  Estimator(const Estimate& estimate, std::size_t routes) : estimate_(estimate), routes_(routes) {}

  [[nodiscard]] Cost of(std::uint32_t number) const noexcept;
  // A request has ended.
  void learn(std::uint32_t number, Cost actual);

 private:
  struct Route {
    Cost largest{0};
    bool has_ended = false;
    std::deque<std::uint64_t> last;     // in the order of their ends
    std::vector<std::uint64_t> sorted;  // the same
  };

  Estimate estimate_;
  std::vector<Route> routes_;
};

}  // namespace weir::simulate
