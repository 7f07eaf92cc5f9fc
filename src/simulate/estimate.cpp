#include "simulate/estimate.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/number.h"

namespace weir::simulate {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t max) noexcept {
  const auto number = base::parse_number<std::uint64_t>(text);
  return number && *number > 0 && *number <= max ? number : std::nullopt;
}

}  // namespace

Result<Estimate> Estimate::read(const std::string& text) {
  constexpr std::string_view of = " of ";
  if (text == "max") return Estimate{.kind = Kind::largest};
  if (const auto units = number_in(text, std::numeric_limits<std::uint32_t>::max())) {
    return Estimate{.kind = Kind::fixed, .fixed = Cost{*units}};
  }
  const std::size_t middle = text.find(of);
  if (text.starts_with('p') && middle != std::string::npos) {
    const auto percent = number_in(std::string_view(text).substr(1, middle - 1), 99);
    const auto last = number_in(std::string_view(text).substr(middle + of.size()), max_sample);
    if (percent && last) return Estimate{.kind = Kind::quantile, .percent = *percent, .last = *last};
  }
  return failure(
      text.empty() ? "''" : text,
      "not an estimate; use max, a cost such as 4096, or 'p95 of 100' (at most " + std::to_string(max_sample) + ")");
}

std::string Estimate::text() const {
  switch (kind) {
    case Kind::report:
      break;
    case Kind::fixed:
      return std::to_string(fixed.units());
    case Kind::largest:
      return "max";
    case Kind::quantile:
      return "p" + std::to_string(percent) + " of " + std::to_string(last);
  }
  return "report";
}

Cost Estimator::of(std::uint32_t number) const noexcept {
  const Route& route = routes_[number];
  if (estimate_.kind == Estimate::Kind::report) return Cost{0};
  if (estimate_.kind == Estimate::Kind::fixed) return estimate_.fixed;
  if (!route.has_ended) return Cost{1};
  if (estimate_.kind == Estimate::Kind::largest) return route.largest;
  const std::size_t rank = (route.sorted.size() * estimate_.percent + 99) / 100;  // at least 1
  return Cost{route.sorted[rank - 1]};
}

void Estimator::learn(std::uint32_t number, Cost actual) {
  Route& route = routes_[number];
  route.has_ended = true;
  route.largest = std::max(route.largest, actual);
  if (estimate_.kind != Estimate::Kind::quantile) return;
  if (route.last.size() == estimate_.last) {
    route.sorted.erase(std::ranges::lower_bound(route.sorted, route.last.front()));
    route.last.pop_front();
  }
  route.last.push_back(actual.units());
  route.sorted.insert(std::ranges::upper_bound(route.sorted, actual.units()), actual.units());
}

}  // namespace weir::simulate
