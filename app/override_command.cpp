#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/files.h"
#include "app/options.h"
#include "app/terminal.h"
#include "base/ascii.h"
#include "text/json_writer.h"

namespace weir::app {
namespace {

constexpr auto override_footer =
    "\n"
    "An override replaces the numbers of a limit for one consumer until it expires. The consumer keeps what\n"
    "it has used. The server must have a state directory, and the command needs the admin token.\n"
    "\n"
    "  set LIMIT CONSUMER    set or replace the override of a consumer\n"
    "  list [LIMIT]          list overrides, grants and blocks\n"
    "  remove ID             remove an override or a grant; also: remove LIMIT CONSUMER\n"
    "  history               list the latest changes, the newest first\n"
    "  export                print all overrides and blocks, one JSON object per line\n"
    "  apply FILE            set what export has printed\n"
    "\n"
    "CONSUMER is written as for weir peek.\n"
    "\n"
    "Examples:\n"
    "  weir override set api user=acme --rate 500/min --for 24h --reason 'launch day'\n"
    "  weir override set api user=acme --factor 2.5 --until 2027-01-01T00:00:00Z --reason contract\n"
    "  weir override remove api user=acme\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

constexpr auto grant_footer =
    "\n"
    "A grant raises a fixed-window limit for one consumer until the current window ends. Grants add up.\n"
    "With --id, a repeated command grants once.\n"
    "\n"
    "Examples:\n"
    "  weir grant monthly-quota user=acme 10000 --reason 'apology for Tuesday'\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

constexpr auto block_footer =
    "\n"
    "IDENTITY is user=NAME, api_key=KEY, ip=ADDRESS, ip=NETWORK/BITS or header:NAME=VALUE. Requests get a\n"
    "403 with the reason `blocked` on every route, or on the routes given with --route.\n"
    "\n"
    "Examples:\n"
    "  weir block user=mallory --for 1h --reason scraping\n"
    "  weir block ip=203.0.113.0/24 --permanent --reason 'abuse report 4711'\n"
    "  weir block api_key=k-1 --route 'POST /login' --for 1day --reason 'credential stuffing'\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

constexpr auto unblock_footer =
    "\n"
    "Examples:\n"
    "  weir unblock user=mallory\n"
    "\n"
    "Exit codes: 0 success, 1 the server is unreachable or rejected the request, 2 usage error.";

// What all commands that make an exception ask for.
struct ExceptionOptions {
  AdminOptions admin;
  std::string id;
  std::string reason;
  std::string lasts;
  std::string until;
  bool is_permanent = false;
};

struct OverrideOptions : ExceptionOptions {
  std::string action;
  std::vector<std::string> words;
  std::string rate;
  std::string burst;
  std::string units;  // of a window
  std::string queue;
  std::string factor;
  bool is_unlimited = false;
  bool is_banned = false;
  bool is_json = false;
};

struct GrantOptions : ExceptionOptions {
  std::string limit;
  std::string consumer;
  std::uint64_t units = 0;
};

struct BlockOptions : ExceptionOptions {
  std::string identity;
  std::vector<std::string> routes;
};

void add_expiry(CLI::App& line, ExceptionOptions& options) {
  add_text(line, "--for", options.lasts, "DURATION", "How long it lasts, like 1h or 7day");
  add_text(line, "--until", options.until, "TIME", "When it expires, like 2027-01-01T00:00:00Z");
  line.add_flag("--permanent", options.is_permanent, "It never expires");
}

void add_origin(CLI::App& line, ExceptionOptions& options) {
  add_text(line, "--reason", options.reason, "TEXT", "Why, for the list and the history (required)");
  add_text(line, "--id", options.id, "ID", "Its id: a repeated command changes nothing (default: generated)");
}

void write_common(text::JsonWriter& json, const ExceptionOptions& options) {
  if (!options.id.empty()) json.field("id", options.id);
  if (!options.reason.empty()) json.field("reason", options.reason);
  if (!options.lasts.empty()) json.field("for", options.lasts);
  if (!options.until.empty()) json.field("until", options.until);
  if (options.is_permanent) json.field("permanent", true);
}

std::string override_body(const OverrideOptions& options) {
  text::JsonWriter json;
  json.begin_object();
  json.fields("limit", options.words[0], "consumer", options.words[1]);
  write_common(json, options);
  const std::array numbers{std::pair{"rate", options.rate}, std::pair{"burst", options.burst},
                           std::pair{"limit", options.units}, std::pair{"queue", options.queue}};
  const auto is_given = [](const auto& number) { return !number.second.empty(); };
  if (std::ranges::any_of(numbers, is_given)) {
    json.begin_object("numbers");
    for (const auto& [name, value] : numbers) {
      if (!value.empty()) json.field(name, value);
    }
    json.end_object();
  }
  // Text that is not a number becomes 0, which the server rejects.
  if (!options.factor.empty()) json.field("factor", std::strtod(options.factor.c_str(), nullptr));
  if (options.is_unlimited) json.field("unlimited", true);
  if (options.is_banned) json.field("banned", true);
  json.end_object();
  return json.take();
}

std::string until_text(const JsonAnswer& json, const std::string& at) {
  const std::string until = json.text(at + "/until");
  return until.empty() ? "permanent" : "until " + until;
}

// `api, user=acme: rate 500/min, until 2026-01-06T12:00:00Z`
std::string override_text(const JsonAnswer& json, const std::string& at) {
  return fmt::format("{}, {}: {}, {}", json.text(at + "/limit"), json.text(at + "/consumer"), json.text(at + "/words"),
                     until_text(json, at));
}

std::string block_text(const JsonAnswer& json, const std::string& at) {
  const auto routes = json.texts(at + "/routes");
  std::string where;
  for (const std::string& route : routes) where += (where.empty() ? " on " : ", ") + route;
  return fmt::format("{}{}, {}", json.text(at + "/identity"), where, until_text(json, at));
}

// Sends a PUT and prints the result.
int put(const ExceptionOptions& options, std::string_view path, const std::string& body,
        std::string (*describe)(const JsonAnswer&, const std::string&)) {
  const auto access = find_access(options.admin, Right::change);
  if (!access) return give_up(access.error().message());
  const auto done = admin_call(*access, "PUT", path, body);
  if (!done) return give_up(done.error().message());
  fmt::print("{} (id {})\n", printable(describe(done->json, "")), printable(done->json.text("/id")));
  return ok;
}

constexpr std::string_view overrides_path = "/v1/overrides";
constexpr std::string_view blocks_path = "/v1/blocks";

// Calls work(answer, pointer) for each record, page by page.
template <class Work>
Result<void> for_each_record(const Access& access, std::string_view path, const std::string& filter, Work work) {
  const std::string name = path == blocks_path ? "/blocks" : "/overrides";
  std::string cursor;
  do {
    std::string target = fmt::format("{}?count=1000{}", path, filter);
    if (!cursor.empty()) target += "&cursor=" + percent_encoded(cursor);
    const auto page = admin_call(access, "GET", target);
    if (!page) return tl::unexpected(page.error());
    for (std::size_t i = 0; i < page->json.size(name); ++i) work(page->json, fmt::format("{}/{}", name, i));
    cursor = page->json.text("/next");
  } while (!cursor.empty());
  return {};
}

int list(const OverrideOptions& options, const Access& access) {
  const std::string filter = options.words.empty() ? "" : "&limit=" + percent_encoded(options.words[0]);
  std::size_t count = 0;
  const auto show = [&](auto describe) {
    return [&count, describe](const JsonAnswer& json, const std::string& at) {
      ++count;
      fmt::print("{}  {}; {}, by {}\n", printable(json.text(at + "/id")), printable(describe(json, at)),
                 printable(json.text(at + "/reason")), printable(json.text(at + "/by")));
      const std::string inactive = json.text(at + "/inactive");
      if (!inactive.empty()) fmt::print("  inactive: {}\n", printable(inactive));
    };
  };
  auto listed = for_each_record(access, overrides_path, filter, show(override_text));
  if (listed && options.words.empty()) listed = for_each_record(access, blocks_path, "", show(block_text));
  if (!listed) return give_up(listed.error().message());
  if (count == 0) print("No overrides and no blocks.\n");
  return ok;
}

// Returns the id of the record of a consumer or an identity.
Result<std::string> find_id(const Access& access, std::string_view path, const std::string& filter) {
  std::string id;
  const auto listed = for_each_record(access, path, filter, [&](const JsonAnswer& json, const std::string& at) {
    if (id.empty() || json.text(at + "/add").empty()) id = json.text(at + "/id");  // an override before its grants
  });
  if (!listed) return tl::unexpected(listed.error());
  if (id.empty()) return failure("remove", "there is none; list them with weir override list");
  return id;
}

int remove_record(const Access& access, std::string_view path, const std::string& id) {
  const auto done = admin_call(access, "DELETE", fmt::format("{}/{}", path, percent_encoded(id)));
  if (!done) return give_up(done.error().message());
  const bool is_block = path == blocks_path;
  fmt::print("removed {}\n", printable(is_block ? block_text(done->json, "") : override_text(done->json, "")));
  return ok;
}

int remove(const OverrideOptions& options, const Access& access) {
  if (options.words.size() == 1) return remove_record(access, overrides_path, options.words[0]);
  const auto id = find_id(
      access, overrides_path,
      fmt::format("&limit={}&consumer={}", percent_encoded(options.words[0]), percent_encoded(options.words[1])));
  return id ? remove_record(access, overrides_path, *id) : give_up(id.error().message());
}

int history(const Access& access) {
  for (const auto& [path, kind] : {std::pair{overrides_path, "/override"}, std::pair{blocks_path, "/block"}}) {
    const auto found = admin_call(access, "GET", fmt::format("{}/history?count=1000", path));
    if (!found) return give_up(found.error().message());
    for (std::size_t i = 0; i < found->json.size("/changes"); ++i) {
      const std::string at = fmt::format("/changes/{}", i);
      const std::string record = at + kind;
      const std::string limit = found->json.text(record + "/limit");
      fmt::print("{}  {} {} {}  {}{}  by {}: {}\n", found->json.text(at + "/at"), found->json.text(at + "/action"),
                 kind + 1, printable(found->json.text(record + "/id")), printable(limit.empty() ? "" : limit + ", "),
                 printable(found->json.text(record + (limit.empty() ? "/identity" : "/consumer"))),
                 printable(found->json.text(at + "/by")), printable(found->json.text(record + "/reason")));
    }
  }
  return ok;
}

int export_all(const Access& access) {
  for (const std::string_view path : {overrides_path, blocks_path}) {
    const auto done = for_each_record(
        access, path, "", [](const JsonAnswer& json, const std::string& at) { print(json.text(at) + "\n"); });
    if (!done) return give_up(done.error().message());
  }
  return ok;
}

// Grants are not applied: they belong to the window in which they were made.
int apply(const OverrideOptions& options, const Access& access) {
  constexpr std::size_t max_file = std::size_t{1} << 30;
  const auto text = read_file(options.words[0], max_file);
  if (!text) return give_up(text.error().message());
  std::size_t number = 0;
  std::size_t applied = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    ++number;
    const std::size_t end = rest.find('\n');
    const std::string_view line = base::trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.empty()) continue;
    const auto json = JsonAnswer::parse(line);
    if (!json) return give_up(fmt::format("{}:{}: not a JSON object", options.words[0], number));
    if (!json->text("/add").empty()) continue;
    const bool is_block = !json->text("/identity").empty();
    const auto done = admin_call(access, "PUT", is_block ? blocks_path : overrides_path, line);
    if (!done) return give_up(fmt::format("{}:{}: {}", options.words[0], number, done.error().message()));
    ++applied;
  }
  fmt::print("applied {}\n", counted(applied, "record"));
  return ok;
}

// The number of arguments that each action takes.
struct Action {
  std::string_view name;
  std::size_t min_words;
  std::size_t max_words;
};
constexpr std::array actions{Action{"set", 2, 2},     Action{"list", 0, 1},   Action{"remove", 1, 2},
                             Action{"history", 0, 0}, Action{"export", 0, 0}, Action{"apply", 1, 1}};

int run_override(const OverrideOptions& options) {
  if (options.action == "set") return put(options, overrides_path, override_body(options), override_text);
  const auto access = find_access(options.admin, Right::change);
  if (!access) return give_up(access.error().message());
  if (options.action == "list") return list(options, *access);
  if (options.action == "remove") return remove(options, *access);
  if (options.action == "history") return history(*access);
  if (options.action == "export") return export_all(*access);
  return apply(options, *access);
}

void check_words(const OverrideOptions& options) {
  for (const Action& action : actions) {
    if (action.name != options.action) continue;
    if (options.words.size() < action.min_words || options.words.size() > action.max_words) {
      throw CLI::ParseError(fmt::format("`{}` takes {}", action.name,
                                        action.max_words == 0        ? "no argument"
                                        : options.action == "set"    ? "LIMIT and CONSUMER"
                                        : options.action == "remove" ? "ID, or LIMIT and CONSUMER"
                                        : options.action == "list"   ? "at most LIMIT"
                                                                     : "FILE"),
                            CLI::ExitCodes::ValidationError);
    }
  }
}

int run_block(const BlockOptions& options) {
  text::JsonWriter json;
  json.begin_object();
  json.field("identity", options.identity);
  if (!options.routes.empty()) json.list("routes", options.routes);
  write_common(json, options);
  json.end_object();
  return put(options, blocks_path, json.take(), block_text);
}

int run_grant(const GrantOptions& options) {
  text::JsonWriter json;
  json.begin_object();
  json.fields("limit", options.limit, "consumer", options.consumer, "add", options.units);
  write_common(json, options);
  json.end_object();
  return put(options, overrides_path, json.take(), override_text);
}

int run_unblock(const BlockOptions& options) {
  const auto access = find_access(options.admin, Right::change);
  if (!access) return give_up(access.error().message());
  if (options.identity.find('=') == std::string::npos) return remove_record(*access, blocks_path, options.identity);
  const auto id = find_id(*access, blocks_path, "&identity=" + percent_encoded(options.identity));
  return id ? remove_record(*access, blocks_path, *id) : give_up(id.error().message());
}

}  // namespace

Command override_command(CLI::App& weir) {
  auto options = std::make_shared<OverrideOptions>();
  auto* line = weir.add_subcommand("override", "Change a limit for one consumer, for a while");
  line->footer(std::string(admin_footer) + override_footer);
  std::vector<std::string> names;
  for (const Action& action : actions) names.emplace_back(action.name);
  add_words(*line, "ACTION", names, "What to do", [options](std::size_t i) {
    options->action = actions[i].name;
  })->required();
  line->add_option("ARGUMENT", options->words, "Arguments of the action")->type_name(" ");
  add_text(*line, "--rate", options->rate, "RATE", "New rate, like 500/min");
  add_text(*line, "--burst", options->burst, "N", "New burst of a bucket");
  add_text(*line, "--limit", options->units, "N", "New limit of a window, or of concurrent requests");
  add_text(*line, "--queue", options->queue, "N", "New length of a queue");
  add_text(*line, "--factor", options->factor, "F", "Multiply the numbers of the limit, like 2.5");
  line->add_flag("--unlimited", options->is_unlimited, "Admit everything");
  line->add_flag("--banned", options->is_banned, "Admit nothing");
  add_expiry(*line, *options);
  add_origin(*line, *options);
  add_admin_options(*line, options->admin);
  line->callback([options] { check_words(*options); });
  return {line, [options] { return run_override(*options); }};
}

Command grant_command(CLI::App& weir) {
  auto options = std::make_shared<GrantOptions>();
  auto* line = weir.add_subcommand("grant", "Give a consumer more units until a window ends");
  line->footer(std::string(admin_footer) + grant_footer);
  add_text(*line, "LIMIT", options->limit, " ", "The name of the limit")->required();
  add_text(*line, "CONSUMER", options->consumer, " ", "The consumer, as for weir peek")->required();
  line->add_option("UNITS", options->units, "Number of units")->required()->type_name(" ");
  add_origin(*line, *options);
  add_admin_options(*line, options->admin);
  return {line, [options] { return run_grant(*options); }};
}

Command block_command(CLI::App& weir) {
  auto options = std::make_shared<BlockOptions>();
  auto* line = weir.add_subcommand("block", "Deny all requests of a client");
  line->footer(std::string(admin_footer) + block_footer);
  add_text(*line, "IDENTITY", options->identity, " ", "The client, like user=mallory")->required();
  add_texts(*line, "--route", options->routes, "ROUTE", "Block only this route; may be repeated");
  add_expiry(*line, *options);
  add_origin(*line, *options);
  add_admin_options(*line, options->admin);
  return {line, [options] { return run_block(*options); }};
}

Command unblock_command(CLI::App& weir) {
  auto options = std::make_shared<BlockOptions>();
  auto* line = weir.add_subcommand("unblock", "Remove a block");
  line->footer(std::string(admin_footer) + unblock_footer);
  add_text(*line, "IDENTITY", options->identity, " ", "The client, or the id of the block")->required();
  add_admin_options(*line, options->admin);
  return {line, [options] { return run_unblock(*options); }};
}

}  // namespace weir::app
