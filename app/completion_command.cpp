#include <array>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "app/command_tree.h"
#include "app/commands.h"
#include "app/completion_script.h"
#include "app/exit_code.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

enum class Shell { bash, zsh };

constexpr std::array<Word<Shell>, 2> shells{{{"bash", Shell::bash}, {"zsh", Shell::zsh}}};

constexpr auto footer =
    "Examples:\n"
    "  source <(weir completion bash)                                # in ~/.bashrc\n"
    "  weir completion zsh > /usr/local/share/zsh/site-functions/_weir\n"
    "\n"
    "Exit codes: 0 all went well, 1 it could not be written, 2 the command line is wrong.";

}  // namespace

Command completion_command(CLI::App& weir) {
  auto shell = std::make_shared<Shell>(Shell::bash);
  auto* line = weir.add_subcommand("completion", "Print a script that completes weir's command line");
  line->footer(footer);
  add_choice(*line, "SHELL", *shell, shells, "Whose")->required();
  return {line, [shell, &weir] {
            const CommandTree tree = read_command_tree(weir);
            print(*shell == Shell::bash ? bash_completion(tree) : zsh_completion(tree));
            return ok;
          }};
}

}  // namespace weir::app
