// The script and the style sheet of a report as a page: report.js and report.css, as they were at build.
#pragma once

#include <string_view>

namespace weir::simulate {

[[nodiscard]] std::string_view report_script() noexcept;
[[nodiscard]] std::string_view report_style() noexcept;

}  // namespace weir::simulate
