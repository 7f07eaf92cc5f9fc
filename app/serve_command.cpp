#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/environment.h"
#include "app/exit_code.h"
#include "app/load_policy.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "server/check.h"
#include "server/serve.h"

namespace weir::app {
namespace {

constexpr auto footer =
    "Without a file: the doors on this machine's own addresses, and a policy that gives each caller 100\n"
    "requests a minute, 20 at once. FILE is a policy.yaml, an OpenAPI document with x-rate-limit, or what\n"
    "envoyproxy/ratelimit reads; weir.yaml says where to listen, who may ask, and where state is kept:\n"
    "in this process, or for several nodes alike in Redis (store: redis), which --check visits.\n"
    "\n"
    "  http   127.0.0.1:8080   POST /v1/check; /v1/auth for nginx, Traefik, Caddy, HAProxy, Envoy\n"
    "  rls    127.0.0.1:8081   Envoy's rate limit service (gRPC)\n"
    "  resp   127.0.0.1:6390   the Redis protocol: CL.THROTTLE, WEIR.CHECK, WEIR.PEEK, WEIR.RESET\n"
    "  admin  127.0.0.1:8089   GET /metrics, status, reload: weir status, weir peek, weir reset\n"
    "\n"
    "SIGHUP or a changed file reloads (a bad file changes nothing), SIGUSR1 opens the log anew, SIGTERM\n"
    "finishes what is under way, saves what was counted, and ends.\n"
    "\n"
    "Examples:\n"
    "  weir serve\n"
    "  weir serve --policy policy.yaml\n"
    "  weir serve --config /etc/weir/weir.yaml --check    # what is wrong, or what it would do\n"
    "\n"
    "Exit codes: 0 it was told to stop (--check: all is well), 1 it cannot start, 2 wrong command line.";

struct Options {
  std::string config;
  std::string policy;
  bool checks = false;
};

std::optional<std::filesystem::path> path_of(const std::string& text) {
  if (text.empty()) return {};
  return text;
}

void greet(const server::Server& server, const std::string& policy) {
  fmt::print("weir {} serves {}\n", WEIR_VERSION,
             policy.empty() ? "the default policy; --policy FILE takes yours" : printable(policy));
  std::string http;
  for (const auto& place : server.places()) {
    fmt::print("  {:<6} listening on {}{}\n", place.door, place.address.text(), place.tls ? " (TLS)" : "");
    if (place.door == "http" && http.empty() && !place.address.unix_socket()) {
      http = fmt::format("{}://{}", place.tls ? "https" : "http", place.address.text());
    }
  }
  if (!http.empty()) {
    fmt::print("try: curl -i {}/v1/check -d '{{\"path\": \"/hello\", \"user\": \"alice\"}}'\n", http);
  }
  std::fflush(stdout);
}

int serve(const Options& options) {
  const server::Sources sources{path_of(options.config), path_of(options.policy), environment()};
  server::Loaded loaded = server::load(sources);
  if (!loaded.complete()) {
    const Paint paint(stderr);
    for (const policy::Problem& problem : loaded.problems) {
      if (problem.severity == policy::Severity::error) fmt::print(stderr, "{}", problem_line(problem, paint));
    }
    return failed;
  }
  if (options.checks) {
    const server::CheckReport report = server::check(loaded);
    for (const std::string& line : report.lines) fmt::print("{}\n", printable(line));
    for (const std::string& line : report.errors) fmt::print(stderr, "weir: {}\n", printable(line));
    return report.errors.empty() ? ok : failed;
  }
  const std::string policy = loaded.config->policy ? loaded.config->policy->string() : "";
  const auto served = server::serve(sources, std::move(loaded), WEIR_VERSION,
                                    [&](const server::Server& server) { greet(server, policy); });
  return served ? ok : give_up(served.error().message());
}

}  // namespace

Command serve_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("serve", "Decide for proxies and programs: HTTP, gRPC, the Redis protocol");
  line->footer(footer);
  add_file(*line, "--config", options->config, "Where to listen and where to keep state: weir.yaml");
  add_file(*line, "--policy", options->policy, "The policy; counts before the one that weir.yaml names");
  line->add_flag("--check", options->checks, "Say what is wrong, or what it would do, and exit");
  return {line, [options] { return serve(*options); }};
}

}  // namespace weir::app
