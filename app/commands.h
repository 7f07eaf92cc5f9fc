// The subcommands. Each adds its options to the command line and returns the function to run once that is parsed.
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
inline constexpr int failed = 1;   // the command failed, or a validation found errors
inline constexpr int misused = 2;  // the command line is wrong
inline constexpr int tighter = 3;  // weir diff: requests that were admitted could be denied

struct Command {
  CLI::App* line = nullptr;
  std::function<int()> run;  // runs the command and returns its exit code
  // Returns the end of the message about unknown arguments. An empty result adds nothing.
  std::function<std::string(const std::vector<std::string>& unknown)> hint{};
};

Command serve_command(CLI::App& weir);
Command status_command(CLI::App& weir);
Command health_command(CLI::App& weir);
Command top_command(CLI::App& weir);
Command peek_command(CLI::App& weir);
Command reset_command(CLI::App& weir);
Command override_command(CLI::App& weir);
Command grant_command(CLI::App& weir);
Command block_command(CLI::App& weir);
Command unblock_command(CLI::App& weir);
Command reload_command(CLI::App& weir);
Command hash_command(CLI::App& weir);
Command lint_command(CLI::App& weir);
Command explain_command(CLI::App& weir);
Command diff_command(CLI::App& weir);
Command simulate_command(CLI::App& weir);
Command test_command(CLI::App& weir);
Command init_command(CLI::App& weir);
Command schema_command(CLI::App& weir);
Command demo_command(CLI::App& weir);

// These describe the whole command line, so they are added last.
Command completion_command(CLI::App& weir);
Command man_command(CLI::App& weir);
Command help_command(CLI::App& weir);

}  // namespace weir::app
