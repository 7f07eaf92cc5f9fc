#include "server/example_request.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/percent.h"
#include "match/matcher.h"
#include "text/json.h"
#include "weir/query.h"

namespace weir::server {
namespace {

constexpr std::size_t most_routes = 100;  // that are tried

struct Example {
  std::string method = "GET";
  std::string path = "/hello";
};

// A request that the template matches.
Example example_of(const policy::RouteTemplate& route) {
  Example example{.method = route.method.value_or("GET"), .path = {}};
  for (const policy::Segment& segment : route.segments) {
    example.path += '/';
    example.path += segment.is_literal() ? base::percent_encoded(segment.text, base::is_unreserved) : "1";
  }
  if (route.trailing_wildcard) example.path += "/x";
  if (example.path.empty()) example.path = "/";
  return example;
}

std::vector<Example> examples_of(const policy::Ruleset& ruleset) {
  std::vector<Example> examples(1);
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    for (const policy::RouteTemplate& route : limit.routes) {
      if (examples.size() < most_routes) examples.push_back(example_of(route));
    }
  }
  return examples;
}

std::string check_body(const Query& query) {
  std::string body = "{";
  if (query.method != "GET") body += "\"method\": " + text::json_text(query.method) + ", ";
  body += "\"path\": " + text::json_text(query.path);
  if (!query.ip.empty()) body += ", \"ip\": " + text::json_text(query.ip);
  if (!query.user.empty()) body += ", \"user\": " + text::json_text(query.user);
  if (!query.api_key.empty()) body += ", \"api_key\": " + text::json_text(query.api_key);
  return body + "}";
}

std::optional<std::string> covered_check(const match::Matcher& matcher) {
  constexpr std::string_view client = "192.0.2.7";
  match::MatchScratch scratch(matcher);
  match::Matched matched;
  for (const Example& example : examples_of(matcher.ruleset())) {
    const Query user{.method = example.method, .path = example.path, .user = "alice"};
    const Query key{.method = example.method, .path = example.path, .api_key = "key-1"};
    const Query anonymous{.method = example.method, .path = example.path};
    const Query address{.method = example.method, .path = example.path, .ip = client};
    Query both = user;
    both.ip = client;
    for (const Query& query : {user, key, anonymous, address, both}) {
      matcher.match(query, scratch, matched);
      if (!matched.limits.empty()) return check_body(query);
    }
  }
  return {};
}

std::string value_for(const policy::Descriptor& descriptor) {
  if (descriptor.kind == policy::Descriptor::Value::any) return descriptor.key == "remote_address" ? "192.0.2.7" : "x";
  std::string value = descriptor.value;
  if (descriptor.kind == policy::Descriptor::Value::exact) return value;
  for (char& c : value) c = c == '*' ? 'x' : c;
  return value;
}

// The entries that lead to the first limit below `level`; none if there is none.
std::optional<std::string> entries_of(const std::vector<policy::Descriptor>& level) {
  for (const policy::Descriptor& each : level) {
    const std::string entry =
        "{\"key\": " + text::json_text(each.key) + ", \"value\": " + text::json_text(value_for(each)) + "}";
    if (each.limit) return entry;
    if (const auto below = entries_of(each.children)) return entry + ", " + *below;
  }
  return {};
}

std::optional<std::string> descriptors_body(const policy::Ruleset& ruleset) {
  for (const policy::Domain& domain : ruleset.domains) {
    if (const auto entries = entries_of(domain.descriptors)) {
      return "{\"domain\": " + text::json_text(domain.name) + ", \"descriptors\": [{\"entries\": [" + *entries + "]}]}";
    }
  }
  return {};
}

}  // namespace

ExampleRequest example_request(const match::Matcher& matcher) {
  if (auto body = covered_check(matcher)) return {"/v1/check", *std::move(body)};
  if (auto body = descriptors_body(matcher.ruleset())) return {"/json", *std::move(body)};
  return {"/v1/check", check_body({.path = "/hello", .user = "alice"})};
}

}  // namespace weir::server
