// The script and style sheet of the HTML report: report.js and report.css, embedded at build time.
#pragma once

#include <string_view>

namespace weir::simulate {

[[nodiscard]] std::string_view report_script() noexcept;
[[nodiscard]] std::string_view report_style() noexcept;

}  // namespace weir::simulate
