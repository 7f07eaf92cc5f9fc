#include "app/command_tree.h"

#include <cstddef>

#include <CLI/CLI.hpp>

namespace weir::app {
namespace {

// Parses the types that add_words (options.h) makes, such as `TEXT:{text,json}`.
std::vector<std::string> read_choices(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

CommandOption read_option(const CLI::Option& option) {
  CommandOption read;
  for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
  read.description = option.get_description();
  read.is_repeated = option.get_expected_max() > 1;
  read.is_required = option.get_required();
  if (option.get_items_expected_max() == 0) return read;  // a flag
  const std::string type = option.get_type_name();
  read.choices = read_choices(type);
  read.is_file = type == "FILE";
  read.shown = option.get_positional() ? option.get_name(true) : option.get_option_text();
  return read;
}

}  // namespace

CommandTree read_command_tree(const CLI::App& line) {
  CommandTree tree;
  tree.name = line.get_name();
  tree.description = line.get_description();
  tree.footer = line.get_footer();
  for (const CLI::Option* option : line.get_options()) {
    (option->get_positional() ? tree.arguments : tree.options).push_back(read_option(*option));
  }
  for (const CLI::App* command : line.get_subcommands({})) tree.commands.push_back(read_command_tree(*command));
  return tree;
}

}  // namespace weir::app
