// Man pages: weir(1) and one per command from the text of --help, weir.yaml(5) from the table of its fields.
#pragma once

#include <string>
#include <string_view>

#include "app/command_tree.h"

namespace weir::app {

// These return pages in man(7) format, with `version` in the footer.
[[nodiscard]] std::string program_page(const CommandTree& weir, std::string_view version);
[[nodiscard]] std::string command_page(const CommandTree& command, std::string_view version);
[[nodiscard]] std::string config_page(std::string_view version);

}  // namespace weir::app
