#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/server_config.h"
#include "app/terminal.h"
#include "policy/load.h"
#include "policy/words.h"

namespace weir::app {
namespace {

constexpr std::array<Word<Format>, 3> lint_formats{
    {{"text", Format::text}, {"json", Format::json}, {"github", Format::github}}};

constexpr auto lint_footer =
    "FILE is a policy.yaml, an OpenAPI document with x-rate-limit, or a file or directory of\n"
    "envoyproxy/ratelimit; - is the standard input. Every error is shown as FILE:LINE:COLUMN. Warnings mark\n"
    "what is valid but probably not intended, with the rule in brackets. To silence a warning, put a\n"
    "comment on its line or alone on the line above: # weir: allow NAME because REASON.\n"
    "\n"
    "Warnings about approximate limits depend on the number of nodes: store.redis.nodes of --config, else\n"
    "64.\n"
    "\n"
    "Examples:\n"
    "  weir lint policy.yaml\n"
    "  weir lint --strict --format github policies/*.yaml    # annotates a pull request\n"
    "\n"
    "Exit codes: 0 valid (with --strict, without warnings), 1 errors (with --strict, errors or warnings), 2\n"
    "usage error.";

struct LintOptions {
  std::vector<std::string> files;
  bool is_strict = false;
  bool lists = false;
  bool merges_domains = false;
  std::string config;
  Format format = Format::text;
};

std::string lint_report(const std::vector<CheckedFile>& files, Format format) {
  if (format == Format::json) return report_json(files);
  if (format == Format::github) return report_github(files);
  return report_text(files, Paint(stdout));
}

std::string list_of(const policy::Ruleset& ruleset) {
  std::string text;
  for (const std::string& line : policy::ruleset_lines(ruleset)) text += printable(line) + "\n";
  return text;
}

int lint(const LintOptions& options) {
  const auto nodes = node_count(options.config);
  if (!nodes) return give_up(nodes.error().message());
  std::vector<CheckedFile> files;
  std::string lists;
  for (const std::string& file : options.files) {
    const policy::Loaded loaded = load_named(file, {.merge_domains = options.merges_domains, .nodes = nodes->nodes});
    files.push_back({file == standard_input ? "<stdin>" : file, loaded.problems});
    if (loaded.ruleset && options.lists) lists += list_of(*loaded.ruleset);
  }
  print(lint_report(files, options.format));
  if (options.format == Format::text) print(lists);
  const Tally found = tally(files);
  return found.errors > 0 || (options.is_strict && found.warnings > 0) ? failed : ok;
}

}  // namespace

Command lint_command(CLI::App& weir) {
  auto options = std::make_shared<LintOptions>();
  auto* line = weir.add_subcommand("lint", "Validate policy files");
  line->footer(lint_footer);
  add_files(*line, "FILE", options->files, "Policies to validate")->required();
  line->add_flag("--strict", options->is_strict, "Fail on warnings too");
  line->add_flag("--list", options->lists, "Also list each limit and route with its algorithm (text only)");
  add_merge_domains(*line, options->merges_domains);
  add_file(*line, "--config", options->config, "weir.yaml with the number of nodes (store.redis.nodes)");
  add_choice(*line, "--format", options->format, lint_formats, "Output format (default: text)");
  line->callback([options] { check_standard_input(options->files); });
  return {line, [options] { return lint(*options); }};
}

}  // namespace weir::app
