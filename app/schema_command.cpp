#include <memory>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/terminal.h"
#include "policy/schema.h"
#include "server/config_schema.h"

namespace weir::app {
namespace {

constexpr auto footer =
    "Editors complete and check a file as it is written, once they know its schema. For those with the\n"
    "YAML language server, this first line of a policy is enough:\n"
    "  # yaml-language-server: $schema=policy.schema.json\n"
    "\n"
    "Examples:\n"
    "  weir schema > policy.schema.json\n"
    "  weir schema --config > weir.schema.json\n"
    "\n"
    "Exit codes: 0 all went well, 1 it could not be written, 2 the command line is wrong.";

}  // namespace

Command schema_command(CLI::App& weir) {
  auto of_config = std::make_shared<bool>(false);
  auto* line = weir.add_subcommand("schema", "Print the JSON Schema of policy.yaml, for editors");
  line->footer(footer);
  line->add_flag("--config", *of_config, "That of weir.yaml instead");
  return {line, [of_config] {
            print(*of_config ? server::config_schema() : policy::schema());
            return ok;
          }};
}

}  // namespace weir::app
