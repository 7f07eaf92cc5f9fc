#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/terminal.h"
#include "app/top_text.h"

namespace weir::app {
namespace {

constexpr auto peek_footer =
    "\n"
    "CONSUMER is the key of the consumer: alice, 192.0.2.7 or global. If that is ambiguous, add its kind:\n"
    "user=alice, 'ip=192.0.2.7 + route=POST /login'. For a descriptor of Envoy's rate limit service, give\n"
    "its domain and entries instead. Waits are rounded up; --json has exact values.\n"
    "\n"
    "Examples:\n"
    "  weir peek api-by-user user=alice --tier pro\n"
    "  weir peek login-by-ip 192.0.2.7 --json\n"
    "  weir peek --domain edge --descriptor remote_address=192.0.2.7 --descriptor path=/login\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

constexpr auto reset_footer =
    "\n"
    "CONSUMER is written as for weir peek. Warnings and blocks of the consumer are cleared too. The command\n"
    "needs the admin token, which the server creates at its first start.\n"
    "\n"
    "Examples:\n"
    "  weir reset login-by-ip 192.0.2.7\n"
    "  weir reset --domain edge --descriptor remote_address=192.0.2.7\n"
    "  weir reset api-by-user user=alice --admin unix:/run/weir/admin.sock --token-file admin.token\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

// The consumer or descriptor of a limit to show or reset.
struct PeekOptions {
  AdminOptions admin;
  std::string limit;
  std::string consumer;
  DescriptorOption descriptor;
  std::string tier;
  bool is_json = false;

  [[nodiscard]] std::string target(const std::string& verb) const {
    if (descriptor.is_given()) return descriptor.target(verb);
    return "/v1/limits/" + percent_encoded(limit) + "/consumers/" + percent_encoded(consumer) + verb;
  }
};

// Adds the arguments LIMIT and CONSUMER, and the options of a descriptor, which replaces them.
void add_counted(CLI::App& line, PeekOptions& options) {
  auto* limit = add_text(line, "LIMIT", options.limit, " ", "The name of the limit");
  auto* consumer = add_text(line, "CONSUMER", options.consumer, " ", "The consumer");
  add_descriptor(line, options.descriptor);
  line.callback([&options, limit, consumer] {
    check_descriptor(options.descriptor, {{"LIMIT", limit->count() > 0}, {"CONSUMER", consumer->count() > 0}});
    if (options.descriptor.is_given() && !options.tier.empty()) {
      throw CLI::ParseError("--tier and --descriptor: a descriptor has no tier", CLI::ExitCodes::ValidationError);
    }
  });
}

// Formats a field in seconds; empty if it is null or absent.
std::string wait_at(const JsonAnswer& found, const std::string& pointer) {
  const std::string seconds = found.text(pointer);
  return seconds.empty() ? "" : wait_text(std::strtod(seconds.c_str(), nullptr));
}

// Formats `Next request allowed in 60 s; full in 60 s`. A concurrency limit may be released before its leases expire,
// so its waits are upper bounds.
std::string next_request(const JsonAnswer& found, bool is_concurrency, const Paint& paint) {
  const std::string_view at_most = is_concurrency ? "at most " : "";
  const std::string wait = wait_at(found, "/retry_after");
  const std::string more = wait_at(found, "/more_after");
  std::string text;
  if (found.is_true("/admitted")) {
    text = fmt::format("Next request {} now", paint.green("allowed"));
    if (!more.empty()) text += fmt::format("; more in {}{}", at_most, more);
  } else {
    const std::string reason = printable(found.text("/reason"));
    if (wait.empty()) return fmt::format("Next request {} ({}); waiting does not help", paint.red("denied"), reason);
    text = fmt::format("Next request {} in {}{} ({})", paint.red("allowed"), at_most, wait, reason);
  }
  if (!more.empty()) text += fmt::format("; full in {}{}", at_most, wait_at(found, "/reset_after"));
  return text;
}

// Shows the shared state and its slices. An exact limit without slices has nothing to show.
void show_slices(const JsonAnswer& found) {
  const std::string consistency = found.text("/consistency");
  const std::uint64_t holders = found.number("/holders");
  if (!consistency.empty() && found.text("/used").empty()) {
    print("Store unavailable: these numbers are this node's own.\n");
    return;
  }
  if (holders == 0 && (consistency.empty() || consistency == "exact")) return;
  fmt::print("Limit is {}: {} used, {} leased{}\n", printable(consistency), found.text("/used"), found.text("/leased"),
             holders == 0 ? "" : " in " + counted(holders, "slice") + ":");
  const std::size_t listed = found.size("/slices");
  for (std::size_t i = 0; i < listed; ++i) {
    const std::string slice = fmt::format("/slices/{}", i);
    fmt::print("  {}  {}, expires in {}{}\n", printable(found.text(slice + "/holder")),
               counted(found.number(slice + "/units"), "unit"), wait_at(found, slice + "/expires_after"),
               found.is_true(slice + "/own") ? ", this node" : "");
  }
  if (holders > listed) fmt::print("  and {} more\n", holders - listed);
}

// Prints the open receipts: units held for a concurrency limit; for other limits, units reserved and not yet settled.
void show_receipts(const JsonAnswer& found, bool is_concurrency) {
  const std::uint64_t open = found.number("/open");
  if (open == 0) return;
  fmt::print("{} {} by {}:\n", counted(found.number("/open_units"), "unit"), is_concurrency ? "held" : "reserved",
             counted(open, "open receipt"));
  const std::size_t listed = found.size("/receipts");
  for (std::size_t i = 0; i < listed; ++i) {
    const std::string receipt = fmt::format("/receipts/{}", i);
    fmt::print("  {}  {}, expires in {}\n", printable(found.text(receipt + "/receipt")),
               counted(found.number(receipt + "/units"), "unit"), wait_at(found, receipt + "/expires_after"));
  }
  if (open > listed) fmt::print("  and {} more\n", open - listed);
}

void show_candidate(const JsonAnswer& found) {
  if (found.text("/candidate/quota").empty()) return;
  fmt::print("Candidate ({}): {} of {} left; it would {} the next request\n",
             printable(found.text("/candidate/consistency")), found.text("/candidate/remaining"),
             found.text("/candidate/quota"), found.is_true("/candidate/admitted") ? "admit" : "deny");
}

// Names what an operator has changed for this consumer.
void show_exception(const JsonAnswer& found) {
  for (const auto& [field, what] : {std::pair{"/override", "override"}, std::pair{"/block", "block"}}) {
    const std::string id = found.text(field);
    if (!id.empty()) fmt::print("By {} {}:\n", what, printable(id));
  }
}

void show(const JsonAnswer& found) {
  const std::string domain = found.text("/domain");
  const std::string limit = found.text("/limit");
  const std::string subject =
      domain.empty()
          ? fmt::format("{}, {}, tier {}", limit, found.text("/consumer"), found.text("/tier"))
          : fmt::format("{}, {}{}", domain, found.text("/consumer"), limit.empty() ? "" : ", limit " + limit);
  show_exception(found);
  if (found.text("/quota").empty()) {
    const bool banned = found.text("/reason") == "banned";
    const bool blocked = !found.text("/block").empty();
    fmt::print("{}: {}\n", printable(subject),
               blocked  ? "blocked"
               : banned ? "banned; waiting does not help"
                        : "unlimited");
    return;
  }
  fmt::print("{}: {} of {} left\n", printable(subject), found.text("/remaining"), found.text("/quota"));
  const bool is_concurrency = found.text("/algorithm") == "concurrency";
  fmt::print("{}\n", next_request(found, is_concurrency, Paint(stdout)));
  if (found.text("/mode") == "shadow") print("Limit is in shadow mode: it never denies.\n");
  show_slices(found);
  show_receipts(found, is_concurrency);
  show_candidate(found);
}

int peek(const PeekOptions& options) {
  std::string target = options.target("");
  if (!options.tier.empty()) target += "?tier=" + percent_encoded(options.tier);
  const auto found = admin_request(options.admin, Right::read, target);
  if (!found) return give_up(found.error().message());
  if (options.is_json) {
    print(found->text);
  } else {
    show(found->json);
  }
  return ok;
}

int reset(const PeekOptions& options) {
  const auto done = admin_request(options.admin, Right::change, options.target("/reset"));
  if (!done) return give_up(done.error().message());
  fmt::print("{}: {} reset\n", printable(done->json.text(options.descriptor.is_given() ? "/domain" : "/limit")),
             printable(done->json.text("/consumer")));
  if (done->json.number("/out/units") > 0) {
    fmt::print("{} leased to other nodes before the reset can still be spent; they expire in {}\n",
               counted(done->json.number("/out/units"), "unit"), wait_at(done->json, "/out/expires_after"));
  }
  return ok;
}

}  // namespace

Command peek_command(CLI::App& weir) {
  auto options = std::make_shared<PeekOptions>();
  auto* line = weir.add_subcommand("peek", "Show what a consumer has left of a limit");
  line->footer(std::string(admin_footer) + peek_footer);
  add_counted(*line, *options);
  add_text(*line, "--tier", options->tier, "TIER", "Tier of the consumer (default: the policy's)");
  line->add_flag("--json", options->is_json, "Print the JSON of the server");
  add_admin_options(*line, options->admin);
  return {line, [options] { return peek(*options); }};
}

Command reset_command(CLI::App& weir) {
  auto options = std::make_shared<PeekOptions>();
  auto* line = weir.add_subcommand("reset", "Reset what a limit has counted for a consumer");
  line->footer(std::string(admin_footer) + reset_footer);
  add_counted(*line, *options);
  add_admin_options(*line, options->admin);
  return {line, [options] { return reset(*options); }};
}

}  // namespace weir::app
