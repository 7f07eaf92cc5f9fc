#include <cstdio>
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
    "CONSUMER is what the limit counts by: alice, 192.0.2.7 or global; or, where that could mean two things,\n"
    "with its kind: user=alice, 'ip=192.0.2.7 + route=POST /login'. What is counted for a descriptor of\n"
    "Envoy's rate limit service is asked for by its domain and entries.\n"
    "\n"
    "Examples:\n"
    "  weir peek api-by-user user=alice --tier pro\n"
    "  weir peek login-by-ip 192.0.2.7 --json\n"
    "  weir peek --domain edge --descriptor remote_address=192.0.2.7 --descriptor path=/login\n"
    "\n"
    "Exit codes: 0 all went well, 1 the server was not reached or refused, 2 the command line is wrong.";

struct Options {
  AdminOptions admin;
  std::string limit;
  std::string consumer;
  DescriptorOption descriptor;
  std::string tier;
  bool is_json = false;
};

std::string next_request(const JsonAnswer& found, const Paint& paint) {
  if (found.is_true("/admitted")) return "The next request " + paint.green("passes") + ".";
  const std::string wait = found.text("/retry_after");
  const std::string when = wait.empty() ? "Waiting does not help." : "It passes in " + printable(wait) + " s.";
  return fmt::format("The next request is {} ({}). {}", paint.red("denied"), printable(found.text("/reason")), when);
}

void show(const JsonAnswer& found) {
  const std::string domain = found.text("/domain");
  const std::string limit = found.text("/limit");
  const std::string who =
      domain.empty()
          ? fmt::format("{}, {}, tier {}", limit, found.text("/consumer"), found.text("/tier"))
          : fmt::format("{}, {}{}", domain, found.text("/consumer"), limit.empty() ? "" : ", limit " + limit);
  if (found.text("/quota").empty()) {
    const bool banned = found.text("/reason") == "banned";
    fmt::print("{}: {}\n", printable(who), banned ? "banned; waiting does not help" : "unlimited");
    return;
  }
  fmt::print("{}: {} of {} left\n", printable(who), found.text("/remaining"), found.text("/quota"));
  fmt::print("{}{}\n", next_request(found, Paint(stdout)),
             found.text("/mode") == "shadow" ? " The limit is in shadow, so it passes anyway." : "");
  const std::string more = found.text("/more_after");
  if (!more.empty()) {
    fmt::print("More is left in {} s, all in {} s.\n", printable(more), printable(found.text("/reset_after")));
  }
}

int peek(const Options& options) {
  std::string target = options.descriptor.is_given() ? options.descriptor.target("")
                                                     : "/v1/limits/" + percent_encoded(options.limit) + "/consumers/" +
                                                           percent_encoded(options.consumer);
  if (!options.tier.empty()) target += "?tier=" + percent_encoded(options.tier);
  const auto found = ask_admin(options.admin, Right::read, target);
  if (!found) return give_up(found.error().message());
  if (options.is_json) {
    print(found->text);
  } else {
    show(found->json);
  }
  return ok;
}

}  // namespace

Command peek_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("peek", "Say what a consumer has left of a limit; charges nothing");
  line->footer(std::string(admin_footer) + examples);
  auto* limit = add_text(*line, "LIMIT", options->limit, " ", "The name of the limit");
  auto* consumer = add_text(*line, "CONSUMER", options->consumer, " ", "The consumer");
  auto* tier =
      add_text(*line, "--tier", options->tier, "TIER", "The tier that its requests are in (default: the policy's)");
  add_descriptor(*line, options->descriptor);
  line->callback([=] {
    check_descriptor(options->descriptor, {{"LIMIT", limit->count() > 0}, {"CONSUMER", consumer->count() > 0}});
    if (options->descriptor.is_given() && tier->count() > 0) {
      throw CLI::ParseError("--tier and --descriptor: a descriptor has no tier", CLI::ExitCodes::ValidationError);
    }
  });
  line->add_flag("--json", options->is_json, "As the server writes it");
  add_admin_options(*line, options->admin);
  return {line, [options] { return peek(*options); }};
}

}  // namespace weir::app
