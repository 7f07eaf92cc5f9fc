// The charts of a report as a page, each an SVG with a title and a description for those who cannot see it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/report.h"

namespace weir::simulate::html {

// Text that is good between tags and within quoted attributes.
[[nodiscard]] std::string escaped(std::string_view text);

// Admitted and denied per second, one on the other.
[[nodiscard]] std::string timeline_chart(const Timeline& timeline, const std::string& title);

// Denied per second under two policies, on one scale.
[[nodiscard]] std::string denials_chart(const Timeline& live, const Timeline& candidate);

// How many consumers needed how much, with the present number and what it would take for 99 and 99.9 %.
[[nodiscard]] std::string demand_chart(const Demand& demand, const std::string& title);

// A bar of parts that add up, as wide as its column.
struct Part {
  std::string css_class;
  std::uint64_t count = 0;
  std::string label;
};
[[nodiscard]] std::string stacked_bar(const std::vector<Part>& parts);

}  // namespace weir::simulate::html
