#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/json_answer.h"
#include "app/load_policy.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr auto examples =
    "\n"
    "The server reads its weir.yaml and its policy again, as on SIGHUP. Either all of it is in force or\n"
    "nothing has changed. It takes the admin token.\n"
    "\n"
    "Examples:\n"
    "  weir reload\n"
    "  weir reload --config /etc/weir/weir.yaml\n"
    "\n"
    "Exit codes: 0 it is in force, 1 the server was not reached or refused, 2 the command line is wrong.";

// The server says each mistake on a line of its own.
int give_up_by_lines(std::string_view why) {
  while (!why.empty()) {
    const std::size_t end = why.find('\n');
    fmt::print(stderr, "weir: {}\n", printable(why.substr(0, end)));
    why = end == std::string_view::npos ? std::string_view{} : why.substr(end + 1);
  }
  return failed;
}

int reload(const AdminOptions& options) {
  const auto done = ask_admin(options, Right::change, "/v1/reload");
  if (!done) return give_up_by_lines(done.error().message());
  fmt::print("The files were read again and are in force; the policy's digest is {}.\n",
             printable(done->json.text("/digest")));
  const std::string restart = done->json.text("/restart_needed");
  if (!restart.empty()) fmt::print("A restart is needed for what has changed in: {}.\n", printable(restart));
  return ok;
}

}  // namespace

Command reload_command(CLI::App& weir) {
  auto options = std::make_shared<AdminOptions>();
  auto* line = weir.add_subcommand("reload", "Have a running server read its files again");
  line->footer(std::string(admin_footer) + examples);
  add_admin_options(*line, *options);
  return {line, [options] { return reload(*options); }};
}

}  // namespace weir::app
