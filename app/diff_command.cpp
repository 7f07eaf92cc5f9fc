#include <array>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/load_policy.h"
#include "app/options.h"
#include "app/terminal.h"
#include "policy/diff.h"

namespace weir::app {
namespace {

enum class Format { text, markdown, json };

constexpr std::array<Word<Format>, 3> formats{
    {{"text", Format::text}, {"markdown", Format::markdown}, {"json", Format::json}}};

constexpr auto footer =
    "What changes for whom, in words for a review: each change is tighter, looser, different (some may get\n"
    "more and some less) or neutral. Limits are known by their names.\n"
    "\n"
    "Examples:\n"
    "  weir diff policy.yaml policy-next.yaml\n"
    "  git show main:policy.yaml > old.yaml; weir diff --format markdown old.yaml policy.yaml\n"
    "\n"
    "Exit codes: 0 nobody could be denied who was not before, 3 somebody could (tighter or different),\n"
    "1 a file does not load, 2 the command line is wrong.";

struct Options {
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
    switch (change.direction) {
      case policy::Direction::tighter:
        line = paint.red(line);
        break;
      case policy::Direction::looser:
        line = paint.green(line);
        break;
      case policy::Direction::different:
        line = paint.yellow(line);
        break;
      case policy::Direction::neutral:
        break;
    }
    text += line + "\n";
  }
  return text;
}

std::string report(const std::vector<policy::Change>& changes, Format format) {
  switch (format) {
    case Format::markdown:
      return policy::render_markdown(changes);
    case Format::json:
      return policy::render_json(changes);
    case Format::text:
      break;
  }
  return changes.empty() ? policy::render_text(changes) : painted(changes);
}

int diff(const Options& options) {
  const policy::LoadOptions load{.merge_domains = options.merges_domains};
  const auto before = load_policy(options.before, load);
  const auto after = load_policy(options.after, load);
  if (!before || !after) return failed;
  const std::vector<policy::Change> changes = policy::diff(*before, *after);
  print(report(changes, options.format));
  return policy::may_deny_more(changes) ? tighter : ok;
}

}  // namespace

Command diff_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("diff", "Say what changes for whom between two policies");
  line->footer(footer);
  add_file(*line, "OLD", options->before, "The policy as it is")->required();
  add_file(*line, "NEW", options->after, "The policy as it would be")->required();
  line->add_flag("--merge-domains", options->merges_domains,
                 "A domain may have several files: merge_domains in weir.yaml");
  add_choice(*line, "--format", options->format, formats, "How to show it (default: text)");
  return {line, [options] { return diff(*options); }};
}

}  // namespace weir::app
