// The subcommands: each adds its part to the command line, and says what to do once that is parsed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the parser, whose header takes seconds to compile
class App;
}  // namespace CLI

namespace weir::app {

// Exit codes.
inline constexpr int ok = 0;
inline constexpr int failed = 1;   // the work failed, or found what it looked for: mistakes
inline constexpr int misused = 2;  // the command line is wrong
inline constexpr int tighter = 3;  // weir diff: somebody could be denied who was not before

struct Command {
  CLI::App* line = nullptr;
  std::function<int()> run;  // gives an exit code
  // What was meant by words that it does not know, for the end of the message; empty: nothing is known.
  std::function<std::string(const std::vector<std::string>& unknown)> hint{};
};

Command serve_command(CLI::App& weir);
Command status_command(CLI::App& weir);
Command health_command(CLI::App& weir);
Command top_command(CLI::App& weir);
Command peek_command(CLI::App& weir);
Command reset_command(CLI::App& weir);
Command reload_command(CLI::App& weir);
Command hash_command(CLI::App& weir);
Command lint_command(CLI::App& weir);
Command explain_command(CLI::App& weir);
Command diff_command(CLI::App& weir);
Command simulate_command(CLI::App& weir);
Command init_command(CLI::App& weir);
Command schema_command(CLI::App& weir);
Command demo_command(CLI::App& weir);

// The whole line is what they are about; so they are added last.
Command completion_command(CLI::App& weir);
Command man_command(CLI::App& weir);

}  // namespace weir::app
