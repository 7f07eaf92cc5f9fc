// The command line as completions and man pages need it: read from the parser, so that they agree with it and with
// --help.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the parser, whose header takes seconds to compile
class App;
}  // namespace CLI

namespace weir::app {

// An option, or an argument.
struct CommandOption {
  std::vector<std::string> names;  // with their dashes; none: an argument
  std::string shown;               // what the help calls its value; empty: it takes none
  std::string description;
  std::vector<std::string> choices;  // where only these words will do
  bool is_file = false;
  bool is_repeated = false;
  bool is_required = false;
};

struct CommandTree {
  std::string name;
  std::string description;
  std::string footer;  // of the help: paragraphs, examples, exit codes
  std::vector<CommandOption> options;
  std::vector<CommandOption> arguments;
  std::vector<CommandTree> commands;
};

[[nodiscard]] CommandTree read_command_tree(const CLI::App& line);

}  // namespace weir::app
