// Writes the test file of a starter policy (policy/tools/starter.h), for `weir init`.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "policy_test/test_file.h"

namespace weir::policy_test {
namespace {

constexpr std::string_view starter_opening = R"(# Tests of {0}, made by `weir init`. Change them with the policy.
#
#   weir test {1}             run them
#   weir test --mutate {1}    find out what no test detects
version: 1
policy: {2}

tests:
)";

constexpr std::string_view sign_in_tests = R"(  - name: an address may sign in ten times per minute
    ip: 203.0.113.7
    steps:
      - {{ request: {0}, times: 11, expect: {{ admitted: 10, denied_by: sign-in-by-ip, retry_after: 1min }} }}
      - {{ request: {0}, ip: 203.0.113.8, expect: admitted }}
      - {{ request: {0}, at: 75s, times: 11, expect: {{ admitted: 10, denied: 1 }} }}

  - name: only sign-ins of anonymous callers are limited by address
    steps:
      - {{ request: {0}, user: alice, expect: {{ covered_by: by-consumer }} }}
      - {{ request: {1}, ip: 203.0.113.7, expect: {{ covered_by: by-consumer }} }}
)";

constexpr std::string_view consumer_tests = R"(
  - name: a user has sixty requests at once and five per second
    user: alice
    steps:
      - { request: GET /, ip: "203.0.113.{n}", times: 61, expect: { admitted: 60, denied_by: by-consumer, retry_after: 200ms } }
      - { request: GET /, user: bob, expect: { covered_by: by-consumer } }
      - { request: GET /, at: 10s, times: 51, expect: { admitted: 50, denied: 1 } }

  - name: a caller without a user is an address
    steps:
      - { request: GET /, ip: 203.0.113.7, times: 61, expect: { admitted: 60, denied_by: by-consumer } }
      - { request: GET /, ip: 203.0.113.8, expect: admitted }

  - name: the capacity of the service is counted but not enforced
    user: "user-{n}"
    steps:
      - { request: GET /, times: 2000, expect: { admitted: 2000, would_deny: [] } }
      - { request: GET /, user: alice, ip: 203.0.113.7, expect: { verdict: admitted, would_deny: everyone } }
      - { request: GET /, user: alice, at: 1ms, expect: { would_deny: [] } }
      - { request: GET /, user: alice, expect: { would_deny: everyone } }
      - { request: GET /, user: "later-{n}", at: 1s, times: 1000, expect: { admitted: 1000, would_deny: everyone } }

bounds:
)";

// A request that matches the route, in quotes.
std::string sample_request(const policy::RouteTemplate& route, std::string_view method) {
  std::string text(method);
  text += ' ';
  for (const policy::Segment& segment : route.segments) text += "/" + (segment.is_literal() ? segment.text : "1");
  if (route.segments.empty()) text += '/';
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string starter_tests(const policy::Ruleset& ruleset, const std::string& policy_path,
                          const std::string& test_path) {
  const std::string beside = policy_path.substr(policy_path.rfind('/') + 1);
  std::string text = fmt::format(starter_opening, beside, test_path.substr(test_path.rfind('/') + 1), beside);
  std::string bounds;
  const auto sign_in = std::ranges::find(ruleset.limits, "sign-in-by-ip", &policy::CompiledLimit::name);
  if (sign_in != ruleset.limits.end()) {
    const policy::RouteTemplate& route = sign_in->routes.front();
    text += fmt::format(sign_in_tests, sample_request(route, "POST"), sample_request(route, "HEAD"));
    for (std::size_t i = 1; i < sign_in->routes.size(); ++i) {
      text += fmt::format(
          "      - {{ request: {}, ip: 203.0.113.7, expect: {{ covered_by: [by-consumer, sign-in-by-ip] }} }}\n",
          sample_request(sign_in->routes[i], "POST"));
    }
    bounds = fmt::format("  - at_most: '10 per 1min for {} by one anonymous ip'\n", route.text());
  }
  bounds += "  - at_most: 359 per 1min by one user\n";
  return text + std::string(consumer_tests) + bounds;
}

}  // namespace weir::policy_test
