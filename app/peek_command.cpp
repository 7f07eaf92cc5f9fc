#include <cstdio>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr auto peek_footer =
    "\n"
    "CONSUMER is what the limit counts by: alice, 192.0.2.7 or global; or, where that could mean two things,\n"
    "with its kind: user=alice, 'ip=192.0.2.7 + route=POST /login'. For a descriptor of Envoy's rate\n"
    "limit service, give its domain and entries instead.\n"
    "\n"
    "Examples:\n"
    "  weir peek api-by-user user=alice --tier pro\n"
    "  weir peek login-by-ip 192.0.2.7 --json\n"
    "  weir peek --domain edge --descriptor remote_address=192.0.2.7 --descriptor path=/login\n"
    "\n"
    "Exit codes: 0 success, 1 the server was not reached or refused, 2 the command line is wrong.";

constexpr auto reset_footer =
    "\n"
    "CONSUMER is written as for weir peek. Its warnings and blocks are forgotten too. It needs the admin\n"
    "token, which the server makes at its first start.\n"
    "\n"
    "Examples:\n"
    "  weir reset login-by-ip 192.0.2.7\n"
    "  weir reset --domain edge --descriptor remote_address=192.0.2.7\n"
    "  weir reset api-by-user user=alice --admin unix:/run/weir/admin.sock --token-file admin.token\n"
    "\n"
    "Exit codes: 0 success, 1 the server was not reached or refused, 2 the command line is wrong.";

// What a limit has counted for one consumer, or for a descriptor.
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

// Either LIMIT and CONSUMER or a descriptor.
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

std::string next_request(const JsonAnswer& found, const Paint& paint) {
  if (found.is_true("/admitted")) return "The next request " + paint.green("passes") + ".";
  const std::string wait = found.text("/retry_after");
  const std::string when = wait.empty() ? "Waiting does not help." : "It passes in " + printable(wait) + " s.";
  return fmt::format("The next request is {} ({}). {}", paint.red("denied"), printable(found.text("/reason")), when);
}

// What is in a shared store, what is out, and who holds it. Nothing of a limit that every decision is asked of.
void show_slices(const JsonAnswer& found) {
  const std::string consistency = found.text("/consistency");
  const std::uint64_t holders = found.number("/holders");
  if (!consistency.empty() && found.text("/used").empty()) {
    print("The store is away: these numbers are of this node alone.\n");
    return;
  }
  if (holders == 0 && (consistency.empty() || consistency == "exact")) return;
  fmt::print("The limit is {}: {} used, {} held{}\n", printable(consistency), found.text("/used"), found.text("/held"),
             holders == 0 ? "." : " in " + counted(holders, "slice") + ":");
  const std::size_t listed = found.size("/slices");
  for (std::size_t i = 0; i < listed; ++i) {
    const std::string slice = fmt::format("/slices/{}", i);
    fmt::print("  {}  {} for at most {} s{}\n", printable(found.text(slice + "/holder")),
               counted(found.number(slice + "/units"), "unit"), printable(found.text(slice + "/expires_after")),
               found.is_true(slice + "/own") ? ", this node" : "");
  }
  if (holders > listed) fmt::print("  and {} more\n", holders - listed);
}

// What is held at once; of other limits, what is reserved and not settled.
void show_receipts(const JsonAnswer& found, bool is_held) {
  const std::uint64_t open = found.number("/open");
  if (open == 0) return;
  fmt::print("{} {} by {}:\n", counted(found.number("/open_units"), "unit"), is_held ? "held" : "reserved",
             counted(open, "open receipt"));
  const std::size_t listed = found.size("/receipts");
  for (std::size_t i = 0; i < listed; ++i) {
    const std::string receipt = fmt::format("/receipts/{}", i);
    fmt::print("  {}  {} for at most {} s\n", printable(found.text(receipt + "/receipt")),
               counted(found.number(receipt + "/units"), "unit"), printable(found.text(receipt + "/expires_after")));
  }
  if (open > listed) fmt::print("  and {} more\n", open - listed);
}

void show_candidate(const JsonAnswer& found) {
  if (found.text("/candidate/quota").empty()) return;
  fmt::print("Its candidate ({}) has {} of {} left, and would {} the next request.\n",
             printable(found.text("/candidate/consistency")), found.text("/candidate/remaining"),
             found.text("/candidate/quota"), found.is_true("/candidate/admitted") ? "admit" : "deny");
}

void show(const JsonAnswer& found) {
  const std::string domain = found.text("/domain");
  const std::string limit = found.text("/limit");
  const std::string subject =
      domain.empty()
          ? fmt::format("{}, {}, tier {}", limit, found.text("/consumer"), found.text("/tier"))
          : fmt::format("{}, {}{}", domain, found.text("/consumer"), limit.empty() ? "" : ", limit " + limit);
  if (found.text("/quota").empty()) {
    const bool banned = found.text("/reason") == "banned";
    fmt::print("{}: {}\n", printable(subject), banned ? "banned; waiting does not help" : "unlimited");
    return;
  }
  fmt::print("{}: {} of {} left\n", printable(subject), found.text("/remaining"), found.text("/quota"));
  fmt::print("{}{}\n", next_request(found, Paint(stdout)),
             found.text("/mode") == "shadow" ? " The limit is in shadow, so it passes anyway." : "");
  const std::string more = found.text("/more_after");
  const bool is_held = found.text("/algorithm") == "concurrency";
  if (!more.empty()) {
    fmt::print("More is left in {0}{1} s, all in {0}{2} s.\n", is_held ? "at most " : "", printable(more),
               printable(found.text("/reset_after")));
  }
  show_slices(found);
  show_receipts(found, is_held);
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
  fmt::print("{}: {} starts afresh.\n",
             printable(done->json.text(options.descriptor.is_given() ? "/domain" : "/limit")),
             printable(done->json.text("/consumer")));
  if (done->json.number("/out/units") > 0) {
    fmt::print("Other nodes hold {} of before, which they may spend for at most {} s.\n",
               counted(done->json.number("/out/units"), "unit"), printable(done->json.text("/out/expires_after")));
  }
  return ok;
}

}  // namespace

Command peek_command(CLI::App& weir) {
  auto options = std::make_shared<PeekOptions>();
  auto* line = weir.add_subcommand("peek", "Show what a consumer has left of a limit, without charging it");
  line->footer(std::string(admin_footer) + peek_footer);
  add_counted(*line, *options);
  add_text(*line, "--tier", options->tier, "TIER", "The tier that its requests are in (default: the policy's)");
  line->add_flag("--json", options->is_json, "As the server writes it");
  add_admin_options(*line, options->admin);
  return {line, [options] { return peek(*options); }};
}

Command reset_command(CLI::App& weir) {
  auto options = std::make_shared<PeekOptions>();
  auto* line = weir.add_subcommand("reset", "Forget what a limit has counted for a consumer");
  line->footer(std::string(admin_footer) + reset_footer);
  add_counted(*line, *options);
  add_admin_options(*line, options->admin);
  return {line, [options] { return reset(*options); }};
}

}  // namespace weir::app
