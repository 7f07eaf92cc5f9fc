// A report for the terminal: tables of at most about 120 columns.
#pragma once

#include <string>

#include "simulate/report.h"
#include "simulate/text_table.h"

namespace weir::simulate {

[[nodiscard]] std::string report_text(const Report& report, Colour colour = Colour::off);

}  // namespace weir::simulate
