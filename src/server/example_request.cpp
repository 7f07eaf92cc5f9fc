#include "server/example_request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "match/matcher.h"
#include "text/json.h"
#include "weir/query.h"

namespace weir::server {
namespace {

// Bounds of the search.
constexpr std::size_t max_routes = 100;
constexpr std::size_t max_addresses = 8;
constexpr std::size_t max_tiers = 8;

struct Example {
  std::string method = "GET";
  std::string path = "/hello";
};

// Returns a request that the template matches.
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
      if (examples.size() < max_routes) examples.push_back(example_of(route));
    }
  }
  return examples;
}

// The callers to try: a limit may cover only some of them.
struct Callers {
  std::vector<Header> headers;         // one for each header that is part of a key
  std::vector<std::string> addresses;  // 192.0.2.7, then one from each range that a limit covers
  std::vector<std::string_view> tiers{""};
};

// Returns the first `ip_in` of a condition; nullptr if it has none.
const policy::When* find_ip_in(const policy::When& when) {
  if (when.kind == policy::When::Kind::ip_in) return &when;
  for (const policy::When& part : when.conditions) {
    if (const policy::When* found = find_ip_in(part)) return found;
  }
  return nullptr;
}

Callers callers_of(const policy::Ruleset& ruleset) {
  Callers callers;
  callers.addresses.emplace_back("192.0.2.7");
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    for (const auto& parts : limit.consumer_key.alternatives) {
      for (const policy::KeyPart& part : parts) {
        if (part.kind != policy::KeyPart::Kind::header && part.kind != policy::KeyPart::Kind::identity) continue;
        const std::string_view name =
            part.kind == policy::KeyPart::Kind::header ? part.name : ruleset.identity.find(part.name)->header;
        const auto is_known = [&](const Header& header) { return header.name == name; };
        if (std::ranges::none_of(callers.headers, is_known)) callers.headers.push_back({name, "x"});
      }
    }
    if (const policy::When* inside = find_ip_in(limit.when);
        inside != nullptr && callers.addresses.size() < max_addresses) {
      callers.addresses.push_back(inside->ranges.front().network.text());
    }
  }
  for (const std::string& tier : ruleset.tiers.names) {
    if (callers.tiers.size() < max_tiers) callers.tiers.emplace_back(tier);
  }
  return callers;
}

std::string check_body(const Query& query, bool reserves) {
  std::string body = "{";
  const auto add = [&](std::string_view field, std::string_view value) {
    if (value.empty()) return;
    if (body.size() > 1) body += ", ";
    body += text::json_text(field) + ": " + text::json_text(value);
  };
  if (query.method != "GET") add("method", query.method);
  add("path", query.path);
  add("ip", query.ip);
  add("user", query.user);
  add("api_key", query.api_key);
  add("tier", query.tier);
  for (const Header& header : query.headers) {
    body += &header == query.headers.data() ? ", \"headers\": {" : ", ";
    body += text::json_text(header.name) + ": " + text::json_text(header.value);
  }
  if (!query.headers.empty()) body += '}';
  if (reserves) body += ", \"reserve\": true";
  return body + "}";
}

// Finds the first request that some limit counts for its own consumer and that no limit denies outright.
class Search {
 public:
  explicit Search(const match::Matcher& matcher) : matcher_(matcher), scratch_(matcher) {}

  [[nodiscard]] std::optional<std::string> find() {
    const Callers callers = callers_of(matcher_.ruleset());
    for (const Example& example : examples_of(matcher_.ruleset())) {
      for (const std::string_view tier : callers.tiers) {
        for (const std::span<const Header> headers : {std::span<const Header>{}, std::span(callers.headers)}) {
          const Query base{.method = example.method, .path = example.path, .headers = headers, .tier = tier};
          if (auto body = find(base, callers.addresses)) return body;
        }
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::optional<std::string> find(Query query, std::span<const std::string> addresses) {
    using Identity = std::pair<std::string_view, std::string_view>;  // user, API key
    for (const auto& [user, api_key] : {Identity{"alice", ""}, {"", "key-1"}, {"", ""}, {"alice", "key-1"}}) {
      query.user = user;
      query.api_key = api_key;
      if (covers(query)) return check_body(query, reserves());
    }
    for (const std::string& address : addresses) {
      query.ip = address;
      for (const auto& [user, api_key] : {Identity{"", ""}, {"alice", ""}, {"alice", "key-1"}}) {
        query.user = user;
        query.api_key = api_key;
        if (covers(query)) return check_body(query, reserves());
      }
    }
    return {};
  }

  [[nodiscard]] bool covers(const Query& query) {
    matcher_.match(query, scratch_, matched_);
    return matched_.denied_by == match::no_limit &&
           std::ranges::any_of(matched_.limits, [](const match::MatchedLimit& limit) { return !limit.is_shared; });
  }

  // True if the example must reserve, because a concurrency limit requires a receipt.
  [[nodiscard]] bool reserves() const {
    return std::ranges::any_of(matched_.limits, [&](const match::MatchedLimit& limit) {
      return matcher_.ruleset().limits[limit.limit].algorithm == policy::PolicyAlgorithm::concurrency;
    });
  }

  const match::Matcher& matcher_;
  match::MatchScratch scratch_;
  match::Matched matched_;
};

std::string value_for(const policy::Descriptor& descriptor) {
  if (descriptor.kind == policy::Descriptor::Value::any) return descriptor.key == "remote_address" ? "192.0.2.7" : "x";
  std::string value = descriptor.value;
  if (descriptor.kind == policy::Descriptor::Value::exact) return value;
  for (char& c : value) c = c == '*' ? 'x' : c;
  return value;
}

// Returns the entries that lead to the first limit below `level`, if there is one.
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

std::optional<ExampleRequest> example_request(const match::Matcher& matcher) {
  if (auto body = Search(matcher).find()) return ExampleRequest{"/v1/check", *std::move(body)};
  if (auto body = descriptors_body(matcher.ruleset())) return ExampleRequest{"/json", *std::move(body)};
  return {};
}

}  // namespace weir::server
