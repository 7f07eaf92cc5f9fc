#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
    "What a flag says counts first, then the environment (WEIR_CONFIG, WEIR_POLICY), then weir.yaml (without\n"
    "--config: /etc/weir/weir.yaml, if it is there), then the defaults; --check shows where each came from.\n"
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
    "  weir serve --http :8080 --exposed --resp off        # in a container: all addresses, for all\n"
    "  weir serve --config /etc/weir/weir.yaml --check    # what is wrong, or what it would do\n"
    "\n"
    "Exit codes: 0 it was told to stop (--check: all is well), 1 it cannot start, 2 wrong command line.";

struct Options {
  std::string config;
  std::string policy;
  std::string http;
  std::string rls;
  std::string resp;
  std::string admin;
  bool exposed = false;
  bool checks = false;
};

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

server::DoorFlags door_flags(const Options& options) {
  return {.http = given(options.http),
          .rls = given(options.rls),
          .resp = given(options.resp),
          .admin = given(options.admin),
          .exposed = options.exposed};
}

std::optional<std::filesystem::path> path_of(const std::string& text) {
  if (text.empty()) return {};
  return text;
}

// As the shell takes it for one word.
std::string in_shell_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// A request that a limit of the policy covers.
std::string try_line(const server::Server& server, const server::Server::Place& door) {
  const std::string host = door.address.host();
  const std::string address =
      host == "0.0.0.0" || host == "::" ? "127.0.0.1:" + std::to_string(door.address.port()) : door.address.text();
  const auto& http = server.config().doors.http;
  const std::string token = http && http->token_file ? fmt::format("-H \"X-Weir-Token: $(cat {})\" ",
                                                                   in_shell_quotes(http->token_file->string()))
                                                     : "";
  const server::ExampleRequest example = server.example();
  return fmt::format("try: curl -i {}{}://{}{} -d {}", token, door.tls ? "https" : "http", address, example.path,
                     in_shell_quotes(example.body));
}

void greet(const server::Server& server, const std::string& policy) {
  fmt::print("weir {} serves {}\n", WEIR_VERSION,
             policy.empty() ? "the default policy; --policy FILE takes yours" : printable(policy));
  std::optional<server::Server::Place> http;
  for (const auto& place : server.places()) {
    fmt::print("  {:<6} listening on {}{}\n", place.door, place.address.text(), place.tls ? " (TLS)" : "");
    if (place.door == "http" && !http && !place.address.unix_socket()) http = place;
  }
  if (http) fmt::print("{}\n", printable(try_line(server, *http)));
  std::fflush(stdout);
}

int serve(const Options& options) {
  const server::Sources sources{path_of(options.config), path_of(options.policy), environment(), door_flags(options)};
  server::Loaded loaded = server::load(sources);
  if (loaded.flag_error) {
    (void)give_up(loaded.flag_error->message());
    return misused;
  }
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

// What people write who have not read the help.
std::string hint(const std::vector<std::string>& unknown) {
  const std::string& word = unknown.front();
  const std::size_t equals = word.find('=');
  const std::string option = word.substr(0, equals);
  if (!word.starts_with('-')) {
    const bool is_config = std::filesystem::path(word).filename() == "weir.yaml";
    return fmt::format("write `weir serve {} {}`", is_config ? "--config" : "--policy", word);
  }
  if (option != "--port" && option != "-p" && option != "--listen" && option != "--addr" && option != "--address" &&
      option != "--bind" && option != "--host") {
    return {};
  }
  const std::string value = equals != std::string::npos ? word.substr(equals + 1)
                            : unknown.size() > 1        ? unknown[1]
                                                        : "";
  const bool is_port = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  const std::string address = is_port                                   ? "127.0.0.1:" + value
                              : value.find(':') != std::string::npos    ? value
                              : value.empty() || value.starts_with('-') ? "127.0.0.1:8080"
                                                                        : value + ":8080";
  return fmt::format("each door has an address: write `weir serve --http {}`; likewise --rls, --resp, --admin",
                     address);
}

}  // namespace

Command serve_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("serve", "Decide for proxies and programs: HTTP, gRPC, the Redis protocol");
  line->footer(footer);
  add_file(*line, "--config", options->config, "Where to listen and where to keep state: weir.yaml");
  add_file(*line, "--policy", options->policy, "The policy; counts before the one that weir.yaml names");
  add_text(*line, "--http", options->http, "ADDRESS", "Where the http door listens, or off; before weir.yaml");
  add_text(*line, "--rls", options->rls, "ADDRESS", "Likewise the rls door");
  add_text(*line, "--resp", options->resp, "ADDRESS", "Likewise the resp door");
  add_text(*line, "--admin", options->admin, "ADDRESS", "Likewise the admin door");
  line->add_flag("--exposed", options->exposed, "Others may use these doors without certificate or token");
  line->add_flag("--check", options->checks, "Say what is wrong, or what it would do, and exit");
  return {line, [options] { return serve(*options); }, hint};
}

}  // namespace weir::app
