#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy/load.h"
#include "policy/roster.h"

namespace weir::app {
namespace {

enum class Format { text, json, github };

constexpr std::array<Word<Format>, 3> formats{
    {{"text", Format::text}, {"json", Format::json}, {"github", Format::github}}};

constexpr auto footer =
    "FILE is a policy.yaml, an OpenAPI document with x-rate-limit, or a file (or a directory of files) of\n"
    "envoyproxy/ratelimit. Every mistake is shown as FILE:LINE:COLUMN, and with it what is no mistake but\n"
    "hardly meant: a warning.\n"
    "\n"
    "Examples:\n"
    "  weir lint policy.yaml\n"
    "  weir lint --strict --format github policies/*.yaml    # annotates a pull request\n"
    "\n"
    "Exit codes: 0 no mistake (and with --strict no warning), 1 there are some, 2 the command line is wrong.";

struct Options {
  std::vector<std::string> files;
  bool is_strict = false;
  bool lists = false;
  bool merges_domains = false;
  Format format = Format::text;
};

std::string report(const std::vector<CheckedFile>& files, Format format) {
  switch (format) {
    case Format::json:
      return report_json(files);
    case Format::github:
      return report_github(files);
    case Format::text:
      break;
  }
  return report_text(files, Paint(stdout));
}

std::string list_of(const policy::Ruleset& ruleset) {
  std::string text;
  for (const std::string& line : policy::roster(ruleset)) text += printable(line) + "\n";
  return text;
}

int lint(const Options& options) {
  std::vector<CheckedFile> files;
  std::string lists;
  for (const std::string& file : options.files) {
    const policy::Loaded loaded = policy::load_path(file, {.merge_domains = options.merges_domains});
    files.push_back({file, loaded.problems});
    if (loaded.ruleset && options.lists) lists += list_of(*loaded.ruleset);
  }
  print(report(files, options.format));
  if (options.format == Format::text) print(lists);
  const Tally found = tally(files);
  return found.errors > 0 || (options.is_strict && found.warnings > 0) ? failed : ok;
}

}  // namespace

Command lint_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("lint", "Check policy files: every mistake, and what is hardly meant");
  line->footer(footer);
  add_files(*line, "FILE", options->files, "Policies to check")->required();
  line->add_flag("--strict", options->is_strict, "Fail on warnings too");
  line->add_flag("--list", options->lists, "Also list each limit and route with its algorithm (text only)");
  line->add_flag("--merge-domains", options->merges_domains,
                 "A domain may have several files: merge_domains in weir.yaml");
  add_choice(*line, "--format", options->format, formats, "How to show them (default: text)");
  return {line, [options] { return lint(*options); }};
}

}  // namespace weir::app
