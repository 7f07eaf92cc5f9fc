// Scripts that complete a command line in a shell: subcommands, options, their words, and files.
#pragma once

#include <string>

#include "app/command_tree.h"

namespace weir::app {

[[nodiscard]] std::string bash_completion(const CommandTree& tree);
[[nodiscard]] std::string zsh_completion(const CommandTree& tree);

}  // namespace weir::app
