// A report as one page: no script, nothing loaded from anywhere, light or dark as the reader's system is.
// Everything in it that comes from a log or a policy is escaped.
#pragma once

#include <string>

#include "simulate/report.h"

namespace weir::simulate {

[[nodiscard]] std::string report_html(const Report& report);

}  // namespace weir::simulate
