#include <array>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy/tools/diff.h"

namespace weir::app {
namespace {

constexpr std::array<Word<Format>, 3> diff_formats{
    {{"text", Format::text}, {"markdown", Format::markdown}, {"json", Format::json}}};

constexpr auto diff_footer =
    "Describes each change for a review as tighter, looser, different (some requests gain, some lose) or\n"
    "neutral. Limits are matched by name. - is the standard input.\n"
    "\n"
    "Examples:\n"
    "  weir diff policy.yaml policy-next.yaml\n"
    "  git show main:policy.yaml | weir diff --format markdown - policy.yaml\n"
    "\n"
    "Exit codes: 0 no admitted request could be denied, 3 some could (tighter or different), 1 a file does\n"
    "not load, 2 usage error.";

struct DiffOptions {
  std::string before;
  std::string after;
  bool merges_domains = false;
  Format format = Format::text;
};

std::string painted(const std::vector<policy::Change>& changes) {
  const Paint paint(stdout);
  std::string text;
  for (const policy::Change& change : changes) {
    std::string line = policy::render_text({change});
    if (line.ends_with('\n')) line.pop_back();
    line = printable(line);
    if (change.direction == policy::Direction::tighter) line = paint.red(line);
    if (change.direction == policy::Direction::looser) line = paint.green(line);
    if (change.direction == policy::Direction::different) line = paint.yellow(line);
    text += line + "\n";
  }
  return text;
}

std::string diff_report(const std::vector<policy::Change>& changes, Format format) {
  if (format == Format::markdown) return policy::render_markdown(changes);
  if (format == Format::json) return policy::render_json(changes);
  return changes.empty() ? policy::render_text(changes) : painted(changes);
}

int diff(const DiffOptions& options) {
  const policy::LoadOptions load{.merge_domains = options.merges_domains};
  const auto before = load_policy(options.before, load);
  const auto after = load_policy(options.after, load);
  if (!before || !after) return failed;
  const std::vector<policy::Change> changes = policy::diff(*before, *after);
  print(diff_report(changes, options.format));
  return policy::may_deny_more(changes) ? tighter : ok;
}

}  // namespace

Command diff_command(CLI::App& weir) {
  auto options = std::make_shared<DiffOptions>();
  auto* line = weir.add_subcommand("diff", "Compare two policies");
  line->footer(diff_footer);
  add_file(*line, "OLD", options->before, "Current policy")->required();
  add_file(*line, "NEW", options->after, "New policy")->required();
  add_merge_domains(*line, options->merges_domains);
  add_choice(*line, "--format", options->format, diff_formats, "Output format (default: text)");
  line->callback([options] { check_standard_input({options->before, options->after}); });
  return {line, [options] { return diff(*options); }};
}

}  // namespace weir::app
