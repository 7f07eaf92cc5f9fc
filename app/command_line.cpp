#include "app/command_line.h"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/demo.h"
#include "policy/suggestion.h"

namespace weir::app {
namespace {

constexpr int ok = 0;
constexpr int failed = 1;
constexpr int misused = 2;

constexpr auto description =
    "Weir decides, for every request, whether it may pass now.\n"
    "\n"
    "This program demonstrates the library of the same name. It does not serve requests yet.\n";

constexpr auto footer =
    "\n"
    "Examples:\n"
    "  weir demo           the algorithms at work on one bursty trace\n"
    "  weir demo --help    what the demonstration shows\n"
    "\n"
    "Exit codes: 0 all went well, 1 the work failed, 2 the command line is wrong.";

constexpr auto demo_footer =
    "\n"
    "Judges one trace by each algorithm and shows what passed when, and that the wait which a denial\n"
    "names is exact. Runs on virtual time: it is over at once, and prints the same every time.";

// What could have been written in place of a word that is not known.
std::vector<std::string> known_words(const CLI::App& line) {
  std::vector<std::string> words;
  for (const auto* command : line.get_subcommands({})) words.push_back(command->get_name());
  for (const auto* option : line.get_options()) {
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

int explain_misuse(const CLI::App& line, const std::string& problem) {
  fmt::print(stderr, "weir: {}\nSee `{} --help`.\n", problem, line.get_parent() ? "weir " + line.get_name() : "weir");
  return misused;
}

int explain_unknown(const CLI::App& line, const std::string& word) {
  const bool takes_commands = !line.get_subcommands({}).empty();
  const auto* const kind = word.starts_with('-') ? "unknown option"
                           : takes_commands      ? "unknown command"
                                                 : "unexpected argument";
  std::string problem = fmt::format("{} `{}`", kind, word);
  if (const auto meant = policy::closest(word, known_words(line))) problem += fmt::format("; did you mean `{}`?", *meant);
  return explain_misuse(line, problem);
}

// The standard output may be a full disk or a closed pipe.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("weir: cannot write to the standard output\n", stderr);
  return failed;
}

int dispatch(int argc, const char* const* argv) {
  CLI::App weir{description, "weir"};
  weir.footer(footer);
  weir.set_version_flag("--version", "weir " WEIR_VERSION, "Print the version and exit");
  weir.set_help_flag("-h,--help", "Print this help and exit");
  weir.allow_extras();  // so that we can say what was meant

  auto* demo_command = weir.add_subcommand("demo", "Show the algorithms at work on one bursty trace");
  demo_command->allow_extras()->footer(demo_footer);

  try {
    weir.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // for help or the version
    return weir.exit(asked) == 0 ? ok : failed;
  } catch (const CLI::ParseError& error) {
    return explain_misuse(weir, error.what());
  }

  if (const auto unknown = demo_command->remaining(); !unknown.empty()) {
    return explain_unknown(*demo_command, unknown.front());
  }
  if (const auto unknown = weir.remaining(); !unknown.empty()) return explain_unknown(weir, unknown.front());
  if (demo_command->parsed()) return demo() ? ok : failed;
  return explain_misuse(weir, "which command? There is one: demo");
}

}  // namespace

int run(int argc, const char* const* argv) {
  try {
    return finish(dispatch(argc, argv));
  } catch (const std::exception& error) {  // out of memory, or a standard output that cannot be written
    fmt::print(stderr, "weir: {}\n", error.what());
    return failed;
  }
}

}  // namespace weir::app
