// The problems of policy files, for a person, for a program and for GitHub's annotations of a pull request.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "policy/problem.h"

namespace weir::app {

struct Tally {
  std::size_t errors = 0;
  std::size_t warnings = 0;

  friend bool operator==(const Tally&, const Tally&) = default;
};

struct CheckedFile {
  std::string name;
  std::vector<policy::Problem> problems;

  [[nodiscard]] Tally tally() const noexcept;
};

[[nodiscard]] Tally tally(const std::vector<CheckedFile>& files) noexcept;

// FILE:LINE:COLUMN: error: message
[[nodiscard]] std::string problem_line(const policy::Problem& problem, const Paint& paint);

// A line for each problem, one that counts them for each file, and one for all files where there are several.
[[nodiscard]] std::string report_text(const std::vector<CheckedFile>& files, const Paint& paint);

// {"problems": [{"severity", "file", "line", "column", "message"}...], "files": [{"file", "errors", "warnings"}...],
//  "errors": 0, "warnings": 1}
[[nodiscard]] std::string report_json(const std::vector<CheckedFile>& files);

// Workflow commands: ::error file=...,line=...,col=...::message
[[nodiscard]] std::string report_github(const std::vector<CheckedFile>& files);

}  // namespace weir::app
