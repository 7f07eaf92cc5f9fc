#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/descriptor_option.h"
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
    "  weir reset --domain edge --descriptor remote_address=192.0.2.7\n"
    "  weir reset api-by-user user=alice --admin unix:/run/weir/admin.sock --token-file admin.token\n"
    "\n"
    "Exit codes: 0 it is done, 1 the server was not reached or refused, 2 the command line is wrong.";

struct Options {
  AdminOptions admin;
  std::string limit;
  std::string consumer;
  DescriptorOption descriptor;
};

int reset(const Options& options) {
  const bool is_descriptor = options.descriptor.is_given();
  const std::string target = is_descriptor ? options.descriptor.target("/reset")
                                           : "/v1/limits/" + percent_encoded(options.limit) + "/consumers/" +
                                                 percent_encoded(options.consumer) + "/reset";
  const auto done = ask_admin(options.admin, Right::change, target);
  if (!done) return give_up(done.error().message());
  fmt::print("{}: {} starts afresh.\n", printable(done->json.text(is_descriptor ? "/domain" : "/limit")),
             printable(done->json.text("/consumer")));
  return ok;
}

}  // namespace

Command reset_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("reset", "Forget what a limit has counted for a consumer");
  line->footer(std::string(admin_footer) + examples);
  auto* limit = add_text(*line, "LIMIT", options->limit, " ", "The name of the limit");
  auto* consumer = add_text(*line, "CONSUMER", options->consumer, " ", "The consumer");
  add_descriptor(*line, options->descriptor);
  line->callback([=] {
    check_descriptor(options->descriptor, {{"LIMIT", limit->count() > 0}, {"CONSUMER", consumer->count() > 0}});
  });
  add_admin_options(*line, options->admin);
  return {line, [options] { return reset(*options); }};
}

}  // namespace weir::app
