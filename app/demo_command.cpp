#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/demo.h"
#include "app/exit_code.h"

namespace weir::app {
namespace {

constexpr auto footer =
    "Judges one trace by each algorithm and shows what passed when, and that the wait which a denial\n"
    "names is exact. Runs on virtual time: it is over at once, and prints the same every time.\n"
    "\n"
    "Example:\n"
    "  weir demo\n"
    "\n"
    "Exit codes: 0 all went well, 1 the work failed, 2 the command line is wrong.";

}  // namespace

Command demo_command(CLI::App& weir) {
  auto* line = weir.add_subcommand("demo", "Show the algorithms at work on one bursty trace");
  line->footer(footer);
  return {line, [] { return demo() ? ok : failed; }};
}

}  // namespace weir::app
