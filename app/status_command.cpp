#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
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
    "Examples:\n"
    "  weir status\n"
    "  weir status --denied 10                     # who is turned away, by hash: see weir hash\n"
    "  weir status --json | jq .policy.digest\n"
    "\n"
    "Exit codes: 0 all went well, 1 the server was not reached or refused, 2 the command line is wrong.";

struct Options {
  AdminOptions admin;
  std::optional<std::uint32_t> denied;
  bool is_json = false;
};

// A line about one subject.
void say(const std::string& subject, const std::string& text) {
  fmt::print("{:<10} {}\n", subject, printable(text));
}

void show_policy(const JsonAnswer& status, const Paint& paint) {
  const std::string file = status.text("/policy/file");
  say("policy", fmt::format("{}, {}, digest {}", file.empty() ? "the default one" : file,
                            counted(status.number("/policy/limits"), "limit"), status.text("/policy/digest")));
  say("", "in force since " + status.text("/policy/loaded_at"));
  const std::string error = status.text("/last_reload/error");
  if (error.empty()) return;
  fmt::print(
      "{}\n",
      paint.red(printable(fmt::format("{:<10} refused at {}: {}", "reload", status.text("/last_reload/at"), error))));
}

void show_doors(const JsonAnswer& status) {
  for (std::size_t i = 0; i < status.size("/doors"); ++i) {
    const std::string door = fmt::format("/doors/{}", i);
    std::string places;
    for (std::size_t j = 0; j < status.size(door + "/listen"); ++j) {
      places += (places.empty() ? "" : ", ") + status.text(fmt::format("{}/listen/{}", door, j));
    }
    say(status.text(door + "/name"),
        fmt::format("{}, {}", places, counted(status.number(door + "/connections"), "connection")));
  }
}

void show_store(const JsonAnswer& status, const Paint& paint) {
  std::string urls;
  for (std::size_t i = 0; i < status.size("/store/urls"); ++i) {
    urls += status.text(fmt::format("/store/urls/{}", i)) + ", ";
  }
  if (urls.empty()) return;
  say("store", fmt::format("{}{} of {} connected", urls, status.number("/store/connected"),
                           counted(status.number("/store/servers"), "server")));
  const std::string since = status.text("/store/away_since");
  if (!since.empty()) {
    fmt::print("{}\n", paint.red(printable(
                           fmt::format("{:<10} away since {}, breaker {}", "", since, status.text("/store/breaker")))));
  }
  const std::string error = status.text("/store/last_error/error");
  if (!error.empty()) say("", fmt::format("last error at {}: {}", status.text("/store/last_error/at"), error));
}

// Of the last minute. The busiest limits come first, and all beyond twenty are counted.
void show_traffic(const JsonAnswer& status) {
  constexpr std::size_t most_shown = 20;
  const double seconds = std::max(1.0, std::strtod(status.text("/traffic/seconds").c_str(), nullptr));
  say("traffic",
      fmt::format("{} in the last {:.0f} s", counted(status.number("/traffic/requests"), "request"), seconds));
  const std::size_t count = status.size("/traffic/limits");
  for (std::size_t i = 0; i < std::min(count, most_shown); ++i) {
    const std::string limit = fmt::format("/traffic/limits/{}", i);
    const std::uint64_t decisions = status.number(limit + "/decisions");
    const std::uint64_t shadow_denied = status.number(limit + "/shadow_denied");
    const auto share = [&](std::uint64_t part) {
      return fmt::format("{} ({:.1f} %)", part, 100.0 * static_cast<double>(part) / static_cast<double>(decisions));
    };
    say("", fmt::format("{}: {}, {:.2f}/s, denied {}{}", status.text(limit + "/limit"), counted(decisions, "decision"),
                        static_cast<double>(decisions) / seconds, share(status.number(limit + "/denied")),
                        shadow_denied > 0 ? ", would deny " + share(shadow_denied) : ""));
  }
  if (count > most_shown) say("", fmt::format("and {} more limits", count - most_shown));
}

void show_candidates(const JsonAnswer& status) {
  for (std::size_t i = 0; i < status.size("/candidates"); ++i) {
    const std::string candidate = fmt::format("/candidates/{}", i);
    say("candidate", fmt::format("{}: agreed {} times, {} newly denied, {} newly admitted",
                                 status.text(candidate + "/limit"), status.text(candidate + "/agreed"),
                                 status.text(candidate + "/newly_denied"), status.text(candidate + "/newly_admitted")));
  }
}

void show_status(const JsonAnswer& status) {
  const Paint paint(stdout);
  fmt::print("weir {}, {} since {}\n", printable(status.text("/version")),
             status.is_true("/serving") ? paint.green("serving") : paint.yellow("stopping; it served"),
             printable(status.text("/started_at")));
  show_policy(status, paint);
  show_doors(status);
  show_traffic(status);
  constexpr std::uint64_t kibibyte = 1024;
  say("memory", fmt::format("{} KiB of {} KiB", status.number("/memory/used") / kibibyte,
                            status.number("/memory/budget") / kibibyte));
  show_store(status, paint);
  const std::string saved = status.text("/last_snapshot/at");
  const std::string error = status.text("/last_snapshot/error");
  say("snapshot", saved.empty() ? "none since the start" : error.empty() ? saved : saved + " failed: " + error);
  show_candidates(status);
}

void show_denied(const JsonAnswer& answer) {
  const std::size_t count = answer.size("/denied");
  if (count == 0) print("Nobody was denied of late.\n");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string consumer = fmt::format("/denied/{}", i);
    fmt::print("{:>10}  {}  {}\n", answer.text(consumer + "/count"), printable(answer.text(consumer + "/limit")),
               printable(answer.text(consumer + "/consumer")));
  }
}

int status(const Options& options) {
  const std::string target = options.denied ? fmt::format("/v1/denied?count={}", *options.denied) : "/v1/status";
  const auto answer = ask_admin(options.admin, Right::read, target);
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

}  // namespace

Command status_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("status", "Show the state of a running server: policy, doors, traffic, memory");
  line->footer(std::string(admin_footer) + examples);
  line->add_option("--denied", options->denied, "Instead, the N consumers that were denied most of late")
      ->type_name("N")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  line->add_flag("--json", options->is_json, "As the server writes it");
  add_admin_options(*line, options->admin);
  return {line, [options] { return status(*options); }};
}

}  // namespace weir::app
