#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/files.h"
#include "app/load_policy.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy/problem.h"
#include "policy/starter.h"
#include "policy/yaml/document.h"

namespace weir::app {
namespace {

constexpr auto footer =
    "The policy that it writes is commented, loads as it stands, and is meant to be edited. With --from it\n"
    "lists the operations of an OpenAPI document and limits those that look like a sign-in.\n"
    "\n"
    "Examples:\n"
    "  weir init\n"
    "  weir init --from openapi.yaml - | less\n"
    "\n"
    "Exit codes: 0 it is written, 1 it is not (there is a file already, or the document cannot be read),\n"
    "2 the command line is wrong.";

struct Options {
  std::string openapi;
  std::string file = "policy.yaml";
  bool is_forced = false;
};

std::optional<std::string> policy_from(const std::string& openapi) {
  const auto document = read_file(openapi, policy::yaml::most_bytes);
  if (!document) {
    (void)give_up(document.error().message());
    return {};
  }
  policy::Problems problems(openapi);
  auto text = policy::starter_policy(*document, problems);
  const Paint paint(stderr);
  for (const policy::Problem& problem : problems.sorted()) fmt::print(stderr, "{}", problem_line(problem, paint));
  return text;
}

int init(const Options& options) {
  const auto text = options.openapi.empty() ? policy::starter_policy() : policy_from(options.openapi);
  if (!text) return failed;
  if (options.file == "-") {
    print(*text);
    return ok;
  }
  const auto written = write_file(options.file, *text, options.is_forced ? Existing::replaced : Existing::kept);
  if (!written) return give_up(written.error().message());
  fmt::print("{} is written. See what it does: weir lint {}\n", printable(options.file), printable(options.file));
  return ok;
}

}  // namespace

Command init_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("init", "Write a commented policy to start from");
  line->footer(footer);
  add_file(*line, "FILE", options->file, "Where to (default: policy.yaml; - is the standard output)");
  add_file(*line, "--from", options->openapi, "An OpenAPI document (YAML or JSON) with the operations");
  line->add_flag("--force", options->is_forced, "Replace FILE if it is there");
  return {line, [options] { return init(*options); }};
}

}  // namespace weir::app
