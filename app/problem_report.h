// Policies for the subcommands, and the problems of policy files: for a person, for a program and for GitHub's
// annotations of a pull request.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/terminal.h"
#include "policy/load.h"
#include "policy/ruleset.h"
#include "text/yaml/problem.h"

namespace weir::app {

struct Tally {
  std::size_t errors = 0;
  std::size_t warnings = 0;

  friend bool operator==(const Tally&, const Tally&) = default;
};

struct CheckedFile {
  std::string name;
  std::vector<text::Problem> problems;

  [[nodiscard]] Tally tally() const noexcept;
};

[[nodiscard]] Tally tally(const std::vector<CheckedFile>& files) noexcept;

// What names the standard input, in place of a file.
inline constexpr std::string_view standard_input = "-";

// A policy from a file, a directory or the standard input.
[[nodiscard]] policy::Loaded load_named(const std::string& path, policy::LoadOptions load);

// Refuses a command line that names the standard input twice.
void check_standard_input(const std::vector<std::string>& paths);

// A policy that holds. Null if there is a mistake in it; then all of them were said on the standard error. Warnings are
// for weir lint.
[[nodiscard]] std::shared_ptr<const policy::Ruleset> load_policy(const std::string& path,
                                                                 policy::LoadOptions load = {});

// Those that are errors, on the standard error.
void print_errors(const std::vector<text::Problem>& problems);

// FILE:LINE:COLUMN: error: message; of a warning, with its rule behind it: [unverified-key]
[[nodiscard]] std::string problem_line(const text::Problem& problem, const Paint& paint);

// A line for each problem, one that counts them for each file, and one for all files where there are several.
[[nodiscard]] std::string report_text(const std::vector<CheckedFile>& files, const Paint& paint);

// {"problems": [{"severity", "file", "line", "column", "message", "rule"}...], "files": [{"file", "errors",
// "warnings"}...],
//  "errors": 0, "warnings": 1}
[[nodiscard]] std::string report_json(const std::vector<CheckedFile>& files);

// Workflow commands: ::error file=...,line=...,col=...::message
[[nodiscard]] std::string report_github(const std::vector<CheckedFile>& files);

}  // namespace weir::app
