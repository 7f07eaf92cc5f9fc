#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/explanation_report.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/server_config.h"
#include "app/terminal.h"
#include "base/ascii.h"
#include "match/descriptors.h"
#include "match/explain.h"
#include "policy_test/request_text.h"
#include "text/address.h"

namespace weir::app {
namespace {

constexpr std::array<Word<Format>, 2> explain_formats{{{"text", Format::text}, {"json", Format::json}}};

constexpr auto explain_footer =
    "Prints the outcome as far as the policy alone decides it; then the limits that cover the request, with\n"
    "consumer and numbers for its tier; then the limits that do not cover it, and why. Nothing is charged,\n"
    "and current usage is not considered.\n"
    "\n"
    "--ip is the address that sends the request to Weir. The default, 127.0.0.1, is a trusted proxy unless\n"
    "the policy says otherwise, so its headers about user, tier and forwarded address are accepted. Pass a\n"
    "client's address to see what a client could achieve with such headers. --user, --api-key, --tier and\n"
    "--cost are values that the calling program sends; they are always accepted.\n"
    "\n"
    "For a descriptor of Envoy's rate limit service, give its domain and entries.\n"
    "\n"
    "For leased and approximate limits, the bounds depend on the number of nodes: store.redis.nodes of\n"
    "--config, else 64.\n"
    "\n"
    "Examples:\n"
    "  weir explain policy.yaml --request 'POST /login' --ip 192.0.2.7\n"
    "  weir explain policy.yaml --request 'GET /api/v1/me' --header 'X-User-Id: alice'\n"
    "  weir explain ratelimit.yaml --domain edge --descriptor remote_address=192.0.2.7\n"
    "\n"
    "Exit codes: 0 success, 1 the policy does not load, 2 usage error.";

struct ExplainOptions {
  std::string file;
  std::string request;
  DescriptorOption descriptor;
  std::vector<std::string> headers;
  std::string ip = "127.0.0.1";
  std::string user;
  std::string api_key;
  std::string tier;
  std::optional<std::uint64_t> cost;
  bool merges_domains = false;
  std::string config;
  Format format = Format::text;
};

std::string check_request(const std::string& text) {
  if (policy_test::parse_request_line(text)) return {};
  return "`" + text + "` is not a method and a path, like 'POST /login'";
}

Header parse_header(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  return {base::trimmed(text.substr(0, colon)), base::trimmed(text.substr(colon + 1))};
}

std::string check_header(const std::string& text) {
  return parse_header(text).name.empty() ? "`" + text + "` is not a name and a value, like 'X-Plan: pro'" : "";
}

std::string check_address(const std::string& text) {
  return text::Address::parse_endpoint(text) ? "" : "`" + text + "` is not an address, like 192.0.2.7 or 2001:db8::7";
}

int explain_descriptor(const ExplainOptions& options, const policy::Ruleset& ruleset) {
  const auto pairs = options.descriptor.pairs();
  std::vector<DescriptorEntry> entries;
  for (const auto& [key, value] : pairs) entries.push_back({key, value});
  const match::DescriptorName name{options.descriptor.domain, entries};
  std::string key;
  const auto found = match::find_descriptor(ruleset, name, key);
  const bool has_domain =
      std::ranges::find(ruleset.domains, name.domain, &policy::Domain::name) != ruleset.domains.end();
  if (!has_domain) return give_up(options.file + ": " + found.error().message());
  const ExplainedDescriptor explained{ruleset, name, found ? *found : nullptr, found ? "" : found.error().what};
  print(options.format == Format::json ? descriptor_json(explained) : descriptor_text(explained));
  return ok;
}

int explain(const ExplainOptions& options) {
  const auto ruleset = load_policy(options.file, {.merge_domains = options.merges_domains});
  if (!ruleset) return failed;
  if (options.descriptor.is_given()) return explain_descriptor(options, *ruleset);
  std::vector<Header> headers;
  for (const std::string& header : options.headers) headers.push_back(parse_header(header));
  Query query;
  const auto line = policy_test::parse_request_line(options.request).value_or(policy_test::RequestLine{});
  query.method = line.method;
  query.path = line.path;
  query.ip = options.ip;
  query.headers = headers;
  query.user = options.user;
  query.api_key = options.api_key;
  query.tier = options.tier;
  if (options.cost) query.cost = Cost{*options.cost};

  const auto nodes = node_count(options.config);
  if (!nodes) return give_up(nodes.error().message());
  const auto matcher = match::Matcher::create(ruleset);
  if (!matcher) return give_up(matcher.error().message());
  const ExplainedQuery explained{*ruleset, query, match::explain(**matcher, query), *nodes};
  print(options.format == Format::json ? explanation_json(explained) : explanation_text(explained, Paint(stdout)));
  return ok;
}

}  // namespace

Command explain_command(CLI::App& weir) {
  auto options = std::make_shared<ExplainOptions>();
  auto* line = weir.add_subcommand("explain", "Show which limits cover a request, and why the others do not");
  line->footer(explain_footer);
  add_file(*line, "FILE", options->file, "The policy; - is the standard input")->required();
  add_merge_domains(*line, options->merges_domains);
  auto* request = add_text(*line, "--request", options->request, "'METHOD /path'", "The request");
  add_check(request, check_request);
  add_check(add_texts(*line, "--header", options->headers, "'NAME: VALUE'", "Header of the request; may be repeated"),
            check_header);
  add_check(add_text(*line, "--ip", options->ip, "ADDRESS", "Sender (default: 127.0.0.1, a trusted proxy)"),
            check_address);
  add_text(*line, "--user", options->user, "NAME", "User sent by the calling program");
  add_text(*line, "--api-key", options->api_key, "KEY", "API key sent by the calling program");
  add_text(*line, "--tier", options->tier, "TIER", "Tier sent by the calling program");
  line->add_option("--cost", options->cost, "Cost sent by the calling program, for limits that set none")
      ->type_name("N")
      ->option_text("N");
  add_descriptor(*line, options->descriptor);
  add_file(*line, "--config", options->config, "weir.yaml with the number of nodes (store.redis.nodes)");
  add_choice(*line, "--format", options->format, explain_formats, "Output format (default: text)");
  line->callback([=] { check_descriptor(options->descriptor, {{"--request", request->count() > 0}}); });
  return {line, [options] { return explain(*options); }};
}

}  // namespace weir::app
