// The command line of the program `weir`. Exit code 0 is success, 1 failure, and 2 a usage error, for which a message
// on the standard error says what is wrong and, if possible, what was meant.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "app/command_hints.h"
#include "app/commands.h"
#include "app/terminal.h"
#include "text/yaml/problem.h"

namespace weir::app {
namespace {

constexpr auto description =
    "Weir is a rate limiter: it decides for every request whether to admit or deny it.\n"
    "\n"
    "This program serves decisions to proxies and applications. It also validates, explains, tests, compares\n"
    "and simulates policies, the files that define the limits.\n";

constexpr auto footer =
    "Examples:\n"
    "  weir serve                                                start a server with a default policy\n"
    "  weir status                                               show the state of the running server\n"
    "  weir top                                                  watch the running server live\n"
    "  weir peek api-by-user user=alice                          show what alice has left of a limit\n"
    "  weir block user=mallory --for 1h --reason scraping        deny all requests of a client\n"
    "  weir init policy.yaml                                     write a starter policy\n"
    "  weir lint policy.yaml                                     validate it\n"
    "  weir explain policy.yaml --request 'POST /login'          show the limits of a request\n"
    "  weir test policy.test.yaml                                run its tests\n"
    "  weir diff policy.yaml policy-next.yaml                    compare two policies\n"
    "  weir simulate policy.yaml --log access.log                replay a log under a policy\n"
    "  source <(weir completion bash)                            complete commands with the Tab key\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 usage error; weir diff has one more. weir help COMMAND explains a\n"
    "command, like weir COMMAND --help.";

std::vector<std::string> command_names(const CLI::App& line) {
  std::vector<std::string> names;
  for (const auto* command : line.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& line) {
  std::vector<std::string> names;
  for (const auto* option : line.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

int explain_misuse(const CLI::App& line, const std::string& problem) {
  fmt::print(stderr, "weir: {}\nSee `{} --help`.\n", printable(problem),
             line.get_parent() ? "weir " + line.get_name() : "weir");
  return misused;
}

int explain_unknown(const CLI::App& line, const std::string& word, std::string hint) {
  const std::vector<std::string> commands = command_names(line);
  const auto* const kind = word.starts_with('-') ? "unknown option"
                           : commands.empty()    ? "unexpected argument"
                                                 : "unknown command";
  if (hint.empty() && word.starts_with('-')) {
    const auto meant = text::closest(word, option_names(line));
    if (meant) hint = fmt::format("did you mean `{}`?", *meant);
  } else if (hint.empty() && !commands.empty()) {
    hint = command_hint(word, commands);
  }
  return explain_misuse(line, fmt::format("{} `{}`{}{}", kind, word, hint.empty() ? "" : "; ", hint));
}

int refuse_no_command(const CLI::App& weir) {
  return explain_misuse(weir, fmt::format("missing command; commands: {}", fmt::join(command_names(weir), ", ")));
}

// Explains a missing argument that an option with many values has consumed.
std::string explain_missing(const CLI::App& line, const std::string& problem) {
  for (const auto* option : line.get_options()) {
    const bool took_many = option->nonpositional() && option->get_allow_extra_args() && option->count() > 1;
    if (took_many)
      return fmt::format("{}; write it before `{}`, which takes all values that follow", problem, option->get_name());
  }
  return problem;
}

// Flushes the standard output, which may be on a full disk or a closed pipe.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("weir: cannot write to the standard output\n", stderr);
  return failed;
}

std::string hint_for(const std::vector<Command>& commands, const CLI::App& line,
                     const std::vector<std::string>& unknown) {
  const auto command = std::ranges::find(commands, &line, [](const Command& each) { return each.line; });
  return command == commands.end() || !command->hint ? std::string() : command->hint(unknown);
}

int dispatch(int argc, const char* const* argv) {
  CLI::App weir{description, "weir"};
  weir.footer(footer);
  weir.set_version_flag("--version", "weir " WEIR_VERSION, "Print the version and exit");
  weir.set_help_flag("-h,--help", "Print this help and exit");
  weir.require_subcommand(0, 1);  // at most one subcommand, so that a file may have the name of a command
  const std::vector<Command> commands = {
      serve_command(weir),      status_command(weir),  health_command(weir), top_command(weir),
      peek_command(weir),       reset_command(weir),   reload_command(weir), hash_command(weir),
      override_command(weir),   grant_command(weir),   block_command(weir),  unblock_command(weir),
      lint_command(weir),       explain_command(weir), test_command(weir),   diff_command(weir),
      simulate_command(weir),   init_command(weir),    schema_command(weir), demo_command(weir),
      completion_command(weir), man_command(weir),     help_command(weir),
  };
  weir.allow_extras();  // so that the message can suggest what was meant
  for (const Command& command : commands) command.line->allow_extras();

  std::string misuse;
  bool is_missing = false;
  try {
    weir.parse(argc, argv);
  } catch (const CLI::Success& done) {  // thrown after help or the version was printed
    return weir.exit(done) == 0 ? ok : failed;
  } catch (const CLI::ParseError& error) {
    misuse = error.what();
    is_missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  }

  const auto parsed = weir.get_subcommands();
  const CLI::App& line = parsed.empty() ? weir : *parsed.front();
  // Unknown words are reported first, because they cause other errors.
  for (const CLI::App* part : {&line, static_cast<const CLI::App*>(&weir)}) {
    const std::vector<std::string> extras = part->remaining();
    if (!extras.empty()) return explain_unknown(*part, extras.front(), hint_for(commands, *part, extras));
  }
  if (!misuse.empty()) return explain_misuse(line, is_missing ? explain_missing(line, misuse) : misuse);
  for (const Command& command : commands) {
    if (command.line == &line) return command.run();
  }
  return refuse_no_command(weir);
}

}  // namespace
}  // namespace weir::app

int main(int argc, char** argv) {
  // A closed pipe is a write error like a full disk. It must not end the process with half-written files.
  (void)std::signal(SIGPIPE, SIG_IGN);
  try {
    return weir::app::finish(weir::app::dispatch(argc, argv));
  } catch (const std::exception& error) {  // out of memory, or a standard output that cannot be written
    fmt::print(stderr, "weir: {}\n", error.what());
    return weir::app::failed;
  }
}
