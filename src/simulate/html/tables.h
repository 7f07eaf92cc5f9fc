// Tables of a page. Cells are HTML: who fills them escapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/report.h"

namespace weir::simulate::html {

struct Column {
  std::string title;
  std::string css_class;  // "l" on the left, "l name" for long texts, "l bars"; otherwise on the right
};

[[nodiscard]] std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);

// Hidden until asked for: what a chart shows, in numbers.
[[nodiscard]] std::string numbers_of(const Timeline& timeline);
[[nodiscard]] std::string numbers_of(const Demand& demand);

// What it would take, at each rate.
[[nodiscard]] std::string needs_table(const Demand& demand);

// A heading and the consumers, with bars of that class; nothing if there are none.
[[nodiscard]] std::string consumers_table(const std::string& title, const HardestHit& hit, const char* bar_class);

}  // namespace weir::simulate::html
