// Tests conditions: their truth in every combination, and that no forged header lifts a limit through one of them.
#include "match/condition.h"

#include "match/explain.h"
#include "tests/match/request.h"

namespace weir::match::condition_tests {
namespace {

constexpr auto client = "203.0.113.7";
constexpr auto proxy = "10.0.0.1";

std::string policy_when(std::string_view when) {
  return R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8], organization: { header: X-Org-Id } }
limits:
  - { name: a, consumer_key: global, algorithm: gcra, rate: 1/min, when: )" +
         std::string(when) + " }\n";
}

Truth truth_of(std::string_view when, const Request& request) {
  const auto ruleset = ruleset_of(policy_when(when));
  const Asked asked(request);
  const Caller caller = identify(*ruleset, asked.query());
  return evaluate(ruleset->limits[0].when, {ruleset->identity, caller, asked.query()});
}

bool covers(std::string_view when, const Request& request) {
  return explain(**Matcher::create(ruleset_of(policy_when(when))), Asked(request).query()).limits[0].covers;
}

Request from(std::string ip) {
  return Request::to("GET /").from(std::move(ip));
}

Request of(std::string organization) {
  return from(proxy).with("X-Forwarded-For", client).with("X-Org-Id", std::move(organization));
}

const Request anonymous = from(proxy).with("X-Forwarded-For", client);
const Request ambiguous = of("acme").with("X-Org-Id", "globex");
const Request contradicted = of("acme").with("Forwarded", "for=198.51.100.1");

struct Row {
  std::string_view when;
  Request request;
  Truth expected;
};

TEST(Condition, HasTheTruthOfItsParts) {
  const std::vector<Row> rows{
      {"{ identified_by: organization }", of("acme"), Truth::yes},
      {"{ identified_by: organization }", anonymous, Truth::no},
      {"{ identified_by: organization }", ambiguous, Truth::unknown},
      {"{ identified_by: user }", of("acme"), Truth::no},
      {"{ identity_in: { organization: [acme, globex] } }", of("globex"), Truth::yes},
      {"{ identity_in: { organization: [acme, globex] } }", of("Acme"), Truth::no},
      {"{ identity_in: { organization: [acme, globex] } }", anonymous, Truth::no},
      {"{ identity_in: { organization: [acme, globex] } }", ambiguous, Truth::unknown},
      {"{ not: { identity_in: { organization: [acme] } } }", of("acme"), Truth::no},
      {"{ not: { identity_in: { organization: [acme] } } }", anonymous, Truth::yes},
      {"{ not: { identity_in: { organization: [acme] } } }", ambiguous, Truth::unknown},
      {"{ not: { ip_in: [203.0.113.0/24] } }", of("acme"), Truth::no},
      {"{ not: { ip_in: [203.0.113.0/24] } }", contradicted, Truth::unknown},
      {"{ not: { not: anonymous } }", anonymous, Truth::yes},
      {"{ all: [anonymous, { ip_in: [203.0.113.0/24] }] }", of("acme"), Truth::yes},
      {"{ all: [authenticated, { ip_in: [203.0.113.0/24] }] }", contradicted, Truth::no},
      {"{ all: [anonymous, { ip_in: [203.0.113.0/24] }] }", contradicted, Truth::unknown},
      {"{ any: [authenticated, { ip_in: [203.0.113.0/24] }] }", contradicted, Truth::unknown},
      {"{ any: [anonymous, { ip_in: [203.0.113.0/24] }] }", contradicted, Truth::yes},
      {"{ not: { any: [authenticated, { identified_by: organization }] } }", anonymous, Truth::yes},
      {"{ not: { any: [authenticated, { identified_by: organization }] } }", of("acme"), Truth::no},
  };
  for (const Row& row : rows) EXPECT_EQ(truth_of(row.when, row.request), row.expected) << row.when;
}

TEST(Condition, LiftsNoLimitForARequestThatMayBeForged) {
  for (const std::string_view when : {"{ identified_by: organization }", "{ identity_in: { organization: [initech] } }",
                                      "{ all: [anonymous, { identity_in: { organization: [acme] } }] }"}) {
    EXPECT_TRUE(covers(when, ambiguous)) << when;
    EXPECT_TRUE(covers("{ not: " + std::string(when) + " }", ambiguous)) << when;
  }
  for (const std::string_view when : {"{ ip_in: [203.0.113.0/24] }", "{ ip_not_in: [203.0.113.0/24] }"}) {
    EXPECT_TRUE(covers(when, contradicted)) << when;
    EXPECT_TRUE(covers("{ not: " + std::string(when) + " }", contradicted)) << when;
  }
}

TEST(Condition, IgnoresTheIdentityThatAClientClaims) {
  const Request claim = from(client).with("X-Org-Id", "acme");
  EXPECT_TRUE(covers("{ not: { identity_in: { organization: [acme] } } }", claim));
  EXPECT_TRUE(covers("{ not: { identified_by: organization } }", claim));
}

TEST(Condition, ThatIsNotMetIsExplained) {
  const auto explained =
      explain(**Matcher::create(ruleset_of(policy_when("{ identity_in: { organization: [acme] } }"))),
              Asked(of("globex")).query());
  EXPECT_EQ(explained.limits[0].why_not, "its condition is not met: { identity_in: { organization: [acme] } }");
}

}  // namespace
}  // namespace weir::match::condition_tests
