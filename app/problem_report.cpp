#include "app/problem_report.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "text/json_writer.h"
#include "text/yaml/document.h"

namespace weir::app {
namespace {

using text::Problem;
using text::Severity;

std::string_view name_of(Severity severity) noexcept {
  return severity == Severity::error ? "error" : "warning";
}

std::string tally_text(Tally tally, const Paint& paint) {
  if (tally == Tally{}) return paint.green("ok");
  std::string text;
  if (tally.errors > 0) text = paint.red(counted(tally.errors, "error"));
  if (tally.warnings > 0) text += (text.empty() ? "" : ", ") + paint.yellow(counted(tally.warnings, "warning"));
  return text;
}

// https://docs.github.com/actions/reference/workflow-commands: property values escape two more characters.
enum class Part { message, property };

std::string escaped(std::string_view text, Part part) {
  std::string out;
  for (const char c : text) {
    const bool is_special = c == '%' || c == '\r' || c == '\n' || (part == Part::property && (c == ':' || c == ','));
    out += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

Tally CheckedFile::tally() const noexcept {
  Tally tally;
  for (const Problem& problem : problems) ++(problem.severity == Severity::error ? tally.errors : tally.warnings);
  return tally;
}

Tally tally(const std::vector<CheckedFile>& files) noexcept {
  Tally sum;
  for (const CheckedFile& file : files) {
    const Tally part = file.tally();
    sum.errors += part.errors;
    sum.warnings += part.warnings;
  }
  return sum;
}

std::string problem_line(const Problem& problem, const Paint& paint) {
  const std::string position = fmt::format("{}:{}:{}:", printable(problem.file), problem.at.line, problem.at.column);
  const bool is_error = problem.severity == Severity::error;
  const std::string severity = is_error ? paint.red("error:") : paint.yellow("warning:");
  return fmt::format("{} {} {}\n", paint.bold(position), severity, printable(problem.named_message()));
}

void print_errors(const std::vector<Problem>& problems) {
  const Paint paint(stderr);
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::error) fmt::print(stderr, "{}", problem_line(problem, paint));
  }
}

policy::Loaded load_named(const std::string& path, const policy::LoadOptions& load) {
  if (path != standard_input) return policy::load_path(path, load);
  std::string text(text::max_bytes + 1, '\0');  // one byte more than allowed, to detect a longer text
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  return policy::load_text(text, "<stdin>", load);
}

void check_standard_input(const std::vector<std::string>& paths) {
  if (std::ranges::count(paths, standard_input) < 2) return;
  throw CLI::ParseError("`-`: the standard input can be read only once", CLI::ExitCodes::ValidationError);
}

std::shared_ptr<const policy::Ruleset> load_policy(const std::string& path, const policy::LoadOptions& load) {
  policy::Loaded loaded = load_named(path, load);
  if (!loaded.ruleset) print_errors(loaded.problems);
  return loaded.ruleset;
}

std::string report_text(const std::vector<CheckedFile>& files, const Paint& paint) {
  std::string text;
  for (const CheckedFile& file : files) {
    for (const Problem& problem : file.problems) text += problem_line(problem, paint);
    text += fmt::format("{}: {}\n", printable(file.name), tally_text(file.tally(), paint));
  }
  if (files.size() > 1) text += fmt::format("{} files: {}\n", files.size(), tally_text(tally(files), paint));
  return text;
}

std::string report_json(const std::vector<CheckedFile>& files) {
  text::JsonWriter json(text::JsonWriter::Layout::indented);
  json.begin_object();
  json.begin_array("problems");
  for (const CheckedFile& file : files) {
    for (const Problem& problem : file.problems) {
      json.object({}, "severity", name_of(problem.severity), "file", problem.file, "line",
                  static_cast<unsigned>(problem.at.line), "column", static_cast<unsigned>(problem.at.column), "message",
                  problem.message, "rule",
                  problem.rule == text::no_rule ? std::nullopt : std::optional(problem.rule.name));
    }
  }
  json.end_array();
  json.list("files", files, [&](const CheckedFile& file) {
    json.object({}, "file", file.name, "errors", file.tally().errors, "warnings", file.tally().warnings);
  });
  json.fields("errors", tally(files).errors, "warnings", tally(files).warnings);
  json.end_object();
  return json.take();
}

std::string report_github(const std::vector<CheckedFile>& files) {
  std::string text;
  for (const CheckedFile& file : files) {
    for (const Problem& problem : file.problems) {
      text += fmt::format("::{} file={},line={},col={}::{}\n", name_of(problem.severity),
                          escaped(problem.file, Part::property), problem.at.line, problem.at.column,
                          escaped(problem.named_message(), Part::message));
    }
  }
  return text;
}

}  // namespace weir::app
