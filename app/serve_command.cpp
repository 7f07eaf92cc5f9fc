#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/server_config.h"
#include "app/terminal.h"
#include "server/check.h"
#include "server/serve.h"

namespace weir::app {
namespace {

constexpr auto serve_footer =
    "Without a file, all listeners are on loopback and the default policy allows each caller 100 requests\n"
    "per minute, 20 at once. The policy FILE is a policy.yaml, an OpenAPI document with x-rate-limit, or a\n"
    "configuration of envoyproxy/ratelimit. weir.yaml configures listeners, access control and the store:\n"
    "this process, or Redis for several nodes (store: redis), which --check connects to.\n"
    "\n"
    "Precedence: flags, then environment (WEIR_CONFIG, WEIR_POLICY), then weir.yaml (without --config:\n"
    "/etc/weir/weir.yaml, if it exists), then defaults. --check shows the source of each setting.\n"
    "\n"
    "  http   127.0.0.1:8080   POST /v1/check; /v1/auth for nginx, Traefik, Caddy, HAProxy, Envoy\n"
    "  rls    127.0.0.1:8081   Envoy's rate limit service (gRPC)\n"
    "  resp   127.0.0.1:6390   the Redis protocol: CL.THROTTLE, WEIR.CHECK, WEIR.PEEK, WEIR.RESET\n"
    "  admin  127.0.0.1:8089   GET /metrics, status, reload: weir status, weir peek, weir reset\n"
    "\n"
    "An ADDRESS is HOST:PORT, unix:PATH, PORT (on 127.0.0.1), :PORT (on every address) or off.\n"
    "\n"
    "SIGHUP or a changed file reloads the configuration; an invalid file is rejected and the old one stays\n"
    "active. SIGUSR1 reopens the log. SIGTERM finishes requests in flight, saves a snapshot (if enabled),\n"
    "and exits.\n"
    "\n"
    "Examples:\n"
    "  weir serve\n"
    "  weir serve --policy policy.yaml\n"
    "  weir serve --http 9000\n"
    "  weir serve --http :8080 --exposed --resp off       # in a container: all addresses, unauthenticated\n"
    "  weir serve --config /etc/weir/weir.yaml --check    # validate, and show the resulting configuration\n"
    "\n"
    "Exit codes: 0 clean shutdown (with --check: valid), 1 startup failed (invalid), 2 usage error.";

struct ServeOptions {
  std::string config;
  std::string policy;
  std::string http;
  std::string rls;
  std::string resp;
  std::string admin;
  bool exposed = false;
  bool checks = false;
};

template <class T = std::string>
std::optional<T> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<T>(text);
}

server::ListenerFlags listener_flags(const ServeOptions& options) {
  server::ListenerFlags flags{.listen = {}, .exposed = options.exposed};
  for (const auto& [name, address] : {std::pair("http", options.http), std::pair("rls", options.rls),
                                      std::pair("resp", options.resp), std::pair("admin", options.admin)}) {
    if (!address.empty()) flags.listen[name] = address;
  }
  return flags;
}

// Quotes text as one word for the shell.
std::string in_shell_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string try_line(const server::Server& server, const server::Server::BoundAddress& listener,
                     const server::ExampleRequest& example) {
  const std::string host = listener.address.host();
  const std::string address = host == "0.0.0.0" || host == "::" ? "127.0.0.1:" + std::to_string(listener.address.port())
                                                                : listener.address.text();
  const auto* http = server.config().listener("http");
  const std::string token =
      http != nullptr && http->token_file
          ? fmt::format("-H \"X-Weir-Token: $(cat {})\" ", in_shell_quotes(http->token_file->string()))
          : "";
  return fmt::format("try: curl -i {}{}://{}{} -d {}", token, listener.tls ? "https" : "http", address, example.path,
                     in_shell_quotes(example.body));
}

void greet(const server::Server& server, const std::string& policy) {
  fmt::print("weir {} serves {}\n", WEIR_VERSION,
             policy.empty() ? "the default policy; use --policy FILE for your own" : printable(policy));
  std::optional<server::Server::BoundAddress> http;
  for (const auto& bound : server.bound_addresses()) {
    fmt::print("  {:<6} listening on {}{}\n", bound.listener, bound.address.text(), bound.tls ? " (TLS)" : "");
    if (bound.listener == "http" && !http && !bound.address.unix_socket()) http = bound;
  }
  const auto example = server.example();
  if (http && example) fmt::print("{}\n", printable(try_line(server, *http, *example)));
  std::fflush(stdout);
}

int serve(const ServeOptions& options) {
  const server::Sources sources{given<std::filesystem::path>(options.config),
                                given<std::filesystem::path>(options.policy), environment(), listener_flags(options)};
  server::Loaded loaded = server::load(sources);
  if (loaded.flag_error) {
    (void)give_up(loaded.flag_error->message());
    return misused;
  }
  if (!loaded.complete()) {
    print_errors(loaded.problems);
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

// Hints for options of other servers.
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
  return fmt::format("each listener has its own address: write `weir serve --http {}`; likewise --rls, --resp, --admin",
                     address);
}

}  // namespace

Command serve_command(CLI::App& weir) {
  auto options = std::make_shared<ServeOptions>();
  auto* line = weir.add_subcommand("serve", "Run the server: decisions over HTTP, gRPC and the Redis protocol");
  line->footer(serve_footer);
  add_file(*line, "--config", options->config, "Server configuration: weir.yaml");
  add_file(*line, "--policy", options->policy, "Policy; overrides weir.yaml");
  add_text(*line, "--http", options->http, "ADDRESS", "Address of the http listener, or off; overrides weir.yaml");
  add_text(*line, "--rls", options->rls, "ADDRESS", "Address of the rls listener, or off");
  add_text(*line, "--resp", options->resp, "ADDRESS", "Address of the resp listener, or off");
  add_text(*line, "--admin", options->admin, "ADDRESS", "Address of the admin listener, or off");
  line->add_flag("--exposed", options->exposed, "Allow unauthenticated access from other hosts");
  line->add_flag("--check", options->checks, "Validate and show the configuration, and exit");
  return {line, [options] { return serve(*options); }, hint};
}

}  // namespace weir::app
