// The command line as a completion needs it: read from the parser, so that both agree.
#pragma once

#include <string>
#include <vector>

#include "app/parser.h"

namespace weir::app {

struct Completable {
  std::vector<std::string> names;  // with their dashes; none: an argument
  std::string shown;               // what the help calls its value; empty: it takes none
  std::string description;
  std::vector<std::string> choices;  // where only these words will do
  bool is_file = false;
  bool is_repeated = false;
};

struct CommandTree {
  std::string name;
  std::string description;
  std::vector<Completable> options;
  std::vector<Completable> arguments;
  std::vector<CommandTree> commands;
};

[[nodiscard]] CommandTree read_command_tree(const CLI::App& line);

}  // namespace weir::app
