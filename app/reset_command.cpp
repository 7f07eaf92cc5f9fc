#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/json_answer.h"
#include "app/load_policy.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr auto examples =
    "\n"
    "CONSUMER is written as for weir peek. Its warnings and blocks are forgotten too. It takes the admin\n"
    "token, which the server makes at its first start.\n"
    "\n"
    "Examples:\n"
    "  weir reset login-by-ip 192.0.2.7\n"
    "  weir reset api-by-user user=alice --admin unix:/run/weir/admin.sock --token-file admin.token\n"
    "\n"
    "Exit codes: 0 it is done, 1 the server was not reached or refused, 2 the command line is wrong.";

struct Options {
  AdminOptions admin;
  std::string limit;
  std::string consumer;
};

int reset(const Options& options) {
  const std::string target =
      "/v1/limits/" + percent_encoded(options.limit) + "/consumers/" + percent_encoded(options.consumer) + "/reset";
  const auto done = ask_admin(options.admin, Right::change, target);
  if (!done) return give_up(done.error().message());
  fmt::print("{}: {} starts afresh.\n", printable(done->json.text("/limit")), printable(done->json.text("/consumer")));
  return ok;
}

}  // namespace

Command reset_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("reset", "Forget what a limit has counted for a consumer");
  line->footer(std::string(admin_footer) + examples);
  add_text(*line, "LIMIT", options->limit, " ", "The name of the limit")->required();
  add_text(*line, "CONSUMER", options->consumer, " ", "The consumer")->required();
  add_admin_options(*line, options->admin);
  return {line, [options] { return reset(*options); }};
}

}  // namespace weir::app
