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
    "For health checks of containers and scripts. No token is needed. A server that is shutting down is\n"
    "alive but not ready.\n"
    "\n"
    "Examples:\n"
    "  weir health\n"
    "  weir health --live --admin 127.0.0.1:8089\n"
    "\n"
    "Exit codes: 0 ready (--live: alive), 1 not ready or unreachable, 2 usage error.";

struct HealthOptions {
  AdminOptions admin;
  bool live = false;
};

int health(const HealthOptions& options) {
  const auto access = find_access(options.admin, Right::none);
  if (!access) return give_up(access.error().message());
  const auto& [address, trust, token] = *access;
  const auto response = http_request(address, trust, "GET", options.live ? "/healthz" : "/readyz", token);
  if (!response) return give_up(response.error().message());
  if (response->status == 503) return give_up(address.text() + ": not ready: the server is starting or shutting down");
  if (response->status != 200) {
    return give_up(
        fmt::format("{}: responded with status {}; is this Weir's admin listener?", address.text(), response->status));
  }
  print(options.live ? "alive\n" : "ready\n");
  return ok;
}

}  // namespace

Command health_command(CLI::App& weir) {
  auto options = std::make_shared<HealthOptions>();
  auto* line = weir.add_subcommand("health", "Check whether a server is ready (exit code 0)");
  line->footer(std::string(admin_footer) + health_footer);
  line->add_flag("--live", options->live, "Check only whether it is alive");
  add_admin_options(*line, options->admin);
  return {line, [options] { return health(*options); }};
}

}  // namespace weir::app
