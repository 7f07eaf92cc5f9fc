// Man pages from the same text as --help: weir(1), one for each command, and weir.yaml(5) from the table of its fields.
#pragma once

#include <string>
#include <string_view>

#include "app/command_tree.h"

namespace weir::app {

// A page in the language of man(7). `version` stands at its foot.
[[nodiscard]] std::string program_page(const CommandTree& weir, std::string_view version);
[[nodiscard]] std::string command_page(const CommandTree& command, std::string_view version);
[[nodiscard]] std::string config_page(std::string_view version);

}  // namespace weir::app
