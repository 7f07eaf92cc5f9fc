#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr auto help_footer =
    "weir help COMMAND prints the same as weir COMMAND --help.\n"
    "\n"
    "Examples:\n"
    "  weir help\n"
    "  weir help serve\n"
    "\n"
    "Exit codes: 0 success, 1 the help could not be written, 2 usage error.";

}  // namespace

Command help_command(CLI::App& weir) {
  std::vector<std::string> names;
  for (const CLI::App* command : weir.get_subcommands({})) names.push_back(command->get_name());
  auto* line = weir.add_subcommand("help", "Print the help of a command");
  line->footer(help_footer);
  names.push_back(line->get_name());
  auto chosen = std::make_shared<std::string>();
  add_words(*line, "COMMAND", names, "The command (default: weir itself)", [chosen, names](std::size_t i) {
    *chosen = names[i];
  })->option_text(" ");
  return {line, [chosen, &weir] {
            const CLI::App& about = chosen->empty() ? weir : *weir.get_subcommand(*chosen);
            const std::string name = chosen->empty() ? "weir" : "weir " + *chosen;
            print(about.get_formatter()->make_help(&about, name, CLI::AppFormatMode::Normal));
            return ok;
          }};
}

}  // namespace weir::app
