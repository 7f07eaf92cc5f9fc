#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr auto health_footer =
    "\n"
    "For health checks of containers and scripts. No token is needed. A server that is about to stop is not\n"
    "ready any more, and still alive.\n"
    "\n"
    "Examples:\n"
    "  weir health\n"
    "  weir health --live --admin 127.0.0.1:8089\n"
    "\n"
    "Exit codes: 0 it is ready (--live: it answers), 1 it is not, 2 the command line is wrong.";

struct HealthOptions {
  AdminOptions admin;
  bool is_live_enough = false;
};

int health(const HealthOptions& options) {
  const auto access = find_access(options.admin, Right::none);
  if (!access) return give_up(access.error().message());
  const auto& [place, trust, token] = *access;
  const auto response = http_request(place, trust, "GET", options.is_live_enough ? "/healthz" : "/readyz", token);
  if (!response) return give_up(response.error().message());
  if (response->status == 503) return give_up(place.text() + ": not ready: the server is about to stop");
  if (response->status != 200) {
    return give_up(
        fmt::format("{}: answered with status {}; is it Weir's admin listener?", place.text(), response->status));
  }
  print(options.is_live_enough ? "alive\n" : "ready\n");
  return ok;
}

}  // namespace

Command health_command(CLI::App& weir) {
  auto options = std::make_shared<HealthOptions>();
  auto* line = weir.add_subcommand("health", "Tell by the exit code whether a running server is ready");
  line->footer(std::string(admin_footer) + health_footer);
  line->add_flag("--live", options->is_live_enough, "Whether it answers at all, ready or about to stop");
  add_admin_options(*line, options->admin);
  return {line, [options] { return health(*options); }};
}

}  // namespace weir::app
