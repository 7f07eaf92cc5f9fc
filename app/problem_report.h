// Loads policies for the subcommands, and reports their problems as text, as JSON and as GitHub annotations.
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

// The file name of the standard input.
inline constexpr std::string_view standard_input = "-";

// Loads a policy from a file, a directory or the standard input.
[[nodiscard]] policy::Loaded load_named(const std::string& path, const policy::LoadOptions& load);

// Throws CLI::ParseError if the standard input is named twice.
void check_standard_input(const std::vector<std::string>& paths);

// Returns null if the policy has errors, and prints them to the standard error. Warnings are not printed.
[[nodiscard]] std::shared_ptr<const policy::Ruleset> load_policy(const std::string& path,
                                                                 const policy::LoadOptions& load = {});

// Prints the errors to the standard error.
void print_errors(const std::vector<text::Problem>& problems);

// Formats a problem as `FILE:LINE:COLUMN: error: message`. A warning ends with its rule: `[unverified-key]`.
[[nodiscard]] std::string problem_line(const text::Problem& problem, const Paint& paint);

// Formats one line per problem, a count per file, and a total if there are several files.
[[nodiscard]] std::string report_text(const std::vector<CheckedFile>& files, const Paint& paint);

// {"problems": [{"severity", "file", "line", "column", "message", "rule"}...],
//  "files": [{"file", "errors", "warnings"}...], "errors": 0, "warnings": 1}
[[nodiscard]] std::string report_json(const std::vector<CheckedFile>& files);

// Formats workflow commands: ::error file=...,line=...,col=...::message
[[nodiscard]] std::string report_github(const std::vector<CheckedFile>& files);

}  // namespace weir::app
