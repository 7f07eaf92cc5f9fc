// The command line as data for completions and man pages. It is read from the parser, so they agree with --help.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the parser, whose header takes seconds to compile
class App;
}  // namespace CLI

namespace weir::app {

// An option, or an argument.
struct CommandOption {
  std::vector<std::string> names;  // names with their dashes; empty: an argument
  std::string shown;               // name of its value in the help; empty: it takes no value
  std::string description;
  std::vector<std::string> choices;  // allowed values; empty: any
  bool is_file = false;
  bool is_repeated = false;
  bool is_required = false;
};

struct CommandTree {
  std::string name;
  std::string description;
  std::string footer;  // paragraphs, examples and exit codes of the help
  std::vector<CommandOption> options;
  std::vector<CommandOption> arguments;
  std::vector<CommandTree> commands;
};

[[nodiscard]] CommandTree read_command_tree(const CLI::App& line);

}  // namespace weir::app
