#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/terminal.h"
#include "app/top_text.h"

namespace weir::app {
namespace {

constexpr auto status_footer =
    "\n"
    "Examples:\n"
    "  weir status\n"
    "  weir status --denied 10                     # the most denied consumers, by hash\n"
    "  weir status --json | jq .policy.digest\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

struct StatusOptions {
  AdminOptions admin;
  std::optional<std::uint32_t> denied;
  bool is_json = false;
};

// Prints a line about one subject.
void show_line(const std::string& subject, const std::string& text) {
  fmt::print("{:<10} {}\n", subject, printable(text));
}

void show_policy(const JsonAnswer& status, const Paint& paint) {
  const std::string file = status.text("/policy/file");
  show_line("policy", fmt::format("{}, {}, digest {}", file.empty() ? "default policy" : file,
                                  counted(status.number("/policy/limits"), "limit"), status.text("/policy/digest")));
  show_line("", "active since " + status.text("/policy/loaded_at"));
  const std::string error = status.text("/last_reload/error");
  if (error.empty()) return;
  fmt::print(
      "{}\n",
      paint.red(printable(fmt::format("{:<10} failed at {}: {}", "reload", status.text("/last_reload/at"), error))));
}

void show_listeners(const JsonAnswer& status) {
  for (std::size_t i = 0; i < status.size("/listeners"); ++i) {
    const std::string listener = fmt::format("/listeners/{}", i);
    show_line(status.text(listener + "/name"),
              fmt::format("{}, {}", fmt::join(status.texts(listener + "/listen"), ", "),
                          counted(status.number(listener + "/connections"), "connection")));
  }
}

void show_store(const JsonAnswer& status, const Paint& paint) {
  const std::vector<std::string> urls = status.texts("/store/urls");
  if (urls.empty()) return;
  show_line("store", fmt::format("{}, {} of {} connected", fmt::join(urls, ", "), status.number("/store/connected"),
                                 counted(status.number("/store/servers"), "server")));
  const std::string since = status.text("/store/unavailable_since");
  if (!since.empty()) {
    fmt::print("{}\n", paint.red(printable(fmt::format("{:<10} unavailable since {}, circuit breaker {}", "", since,
                                                       status.text("/store/breaker")))));
  }
  const std::string error = status.text("/store/last_error/error");
  if (!error.empty()) show_line("", fmt::format("last error at {}: {}", status.text("/store/last_error/at"), error));
  const std::string holder = status.text("/store/holder");
  if (!holder.empty()) show_line("", "holds slices as " + holder);
}

void show_nodes(const JsonAnswer& status, const Paint& paint) {
  if (status.texts("/store/urls").empty()) return;
  const std::size_t count = status.size("/store/heartbeats");
  show_line("nodes", counted(status.number("/store/nodes"), "node") + (count == 0 ? ", not counted yet" : ""));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string node = fmt::format("/store/heartbeats/{}", i);
    const double last_seen_ago = std::strtod(status.text(node + "/last_seen_ago").c_str(), nullptr);
    const std::string line = fmt::format("{}, version {}, last seen {:.1f} s ago", status.text(node + "/name"),
                                         status.text(node + "/version"), last_seen_ago) +
                             (status.is_true(node + "/self") ? ", this node" : "");
    if (status.is_true(node + "/differs")) {
      fmt::print("{}\n", paint.red(printable(fmt::format("{:<10} {}, different policy: digest {}", "", line,
                                                         status.text(node + "/policy")))));
    } else {
      show_line("", line);
    }
  }
}

// Shows the traffic of the last minute, the busiest limits first.
void show_traffic(const JsonAnswer& status) {
  constexpr std::size_t max_shown = 20;
  const double seconds = std::max(1.0, std::strtod(status.text("/traffic/seconds").c_str(), nullptr));
  show_line("traffic",
            fmt::format("{} in the last {:.0f} s", counted(status.number("/traffic/requests"), "request"), seconds));
  const std::size_t count = status.size("/traffic/limits");
  for (std::size_t i = 0; i < std::min(count, max_shown); ++i) {
    const std::string limit = fmt::format("/traffic/limits/{}", i);
    const std::uint64_t decisions = status.number(limit + "/decisions");
    const std::uint64_t shadow_denied = status.number(limit + "/shadow_denied");
    const auto share = [&](std::uint64_t part) {
      return fmt::format("{} ({:.1f} %)", part, 100.0 * static_cast<double>(part) / static_cast<double>(decisions));
    };
    show_line(
        "", fmt::format("{}: {}, {:.2f}/s, denied {}{}", status.text(limit + "/limit"), counted(decisions, "decision"),
                        static_cast<double>(decisions) / seconds, share(status.number(limit + "/denied")),
                        shadow_denied > 0 ? ", would deny " + share(shadow_denied) : ""));
  }
  if (count > max_shown) show_line("", fmt::format("and {} more limits", count - max_shown));
}

void show_candidates(const JsonAnswer& status) {
  for (std::size_t i = 0; i < status.size("/candidates"); ++i) {
    const std::string candidate = fmt::format("/candidates/{}", i);
    show_line("candidate",
              fmt::format("{}: agreed {} times, {} newly denied, {} newly admitted", status.text(candidate + "/limit"),
                          status.text(candidate + "/agreed"), status.text(candidate + "/newly_denied"),
                          status.text(candidate + "/newly_admitted")));
  }
}

void show_status(const JsonAnswer& status) {
  const Paint paint(stdout);
  fmt::print("weir {}, {} since {}\n", printable(status.text("/version")),
             status.is_true("/serving") ? paint.green("serving") : paint.yellow("shutting down; served"),
             printable(status.text("/started_at")));
  show_policy(status, paint);
  show_listeners(status);
  show_traffic(status);
  show_line("memory", fmt::format("{} of {}", bytes_text(status.number("/memory/used")),
                                  bytes_text(status.number("/memory/budget"))));
  show_store(status, paint);
  show_nodes(status, paint);
  const std::string saved = status.text("/last_snapshot/at");
  const std::string error = status.text("/last_snapshot/error");
  show_line("snapshot", saved.empty()   ? "none since startup"
                        : error.empty() ? saved
                                        : "failed at " + saved + ": " + error);
  show_candidates(status);
}

void show_denied(const JsonAnswer& answer) {
  const std::size_t count = answer.size("/denied");
  if (count == 0) print("No consumer was denied recently.\n");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string consumer = fmt::format("/denied/{}", i);
    fmt::print("{:>10}  {}  {}\n", answer.text(consumer + "/count"), printable(answer.text(consumer + "/limit")),
               printable(answer.text(consumer + "/consumer")));
  }
}

int status(const StatusOptions& options) {
  const std::string target = options.denied ? fmt::format("/v1/denied?count={}", *options.denied) : "/v1/status";
  const auto answer = admin_request(options.admin, Right::read, target);
  if (!answer) return give_up(answer.error().message());
  if (options.is_json) {
    print(answer->text);
  } else if (options.denied) {
    show_denied(answer->json);
  } else {
    show_status(answer->json);
  }
  return ok;
}

constexpr auto reload_footer =
    "\n"
    "The server reads weir.yaml and the policy again, as on SIGHUP. If they have errors, nothing changes.\n"
    "The command needs the admin token.\n"
    "\n"
    "Examples:\n"
    "  weir reload\n"
    "  weir reload --config /etc/weir/weir.yaml\n"
    "\n"
    "Exit codes: 0 reloaded, 1 the server is unreachable or rejected the files, 2 usage error.";

// The server reports each error on its own line.
int give_up_by_lines(std::string_view why) {
  while (!why.empty()) {
    const std::size_t end = why.find('\n');
    fmt::print(stderr, "weir: {}\n", printable(why.substr(0, end)));
    why = end == std::string_view::npos ? std::string_view{} : why.substr(end + 1);
  }
  return failed;
}

int reload(const AdminOptions& options) {
  const auto done = admin_request(options, Right::change, "/v1/reload");
  if (!done) return give_up_by_lines(done.error().message());
  fmt::print("Configuration reloaded; policy digest {}\n", printable(done->json.text("/digest")));
  const std::string restart = done->json.text("/restart_needed");
  if (!restart.empty()) fmt::print("Restart required to apply changes to: {}\n", printable(restart));
  return ok;
}

}  // namespace

Command status_command(CLI::App& weir) {
  auto options = std::make_shared<StatusOptions>();
  auto* line = weir.add_subcommand("status", "Show the state of a running server: policy, listeners, traffic, memory");
  line->footer(std::string(admin_footer) + status_footer);
  line->add_option("--denied", options->denied, "Show the N most denied consumers instead")
      ->type_name("N")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  line->add_flag("--json", options->is_json, "Print the JSON of the server");
  add_admin_options(*line, options->admin);
  return {line, [options] { return status(*options); }};
}

Command reload_command(CLI::App& weir) {
  auto options = std::make_shared<AdminOptions>();
  auto* line = weir.add_subcommand("reload", "Reload the configuration of a running server");
  line->footer(std::string(admin_footer) + reload_footer);
  add_admin_options(*line, *options);
  return {line, [options] { return reload(*options); }};
}

}  // namespace weir::app
