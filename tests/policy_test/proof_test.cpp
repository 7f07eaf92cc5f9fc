#include "policy_test/proof.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/policy_test/policy_test_fixture.h"

namespace weir::policy_test {
namespace {

constexpr std::string_view login = R"(
  - { name: login, routes: [POST /login], consumer_key: ip, algorithm: sliding_window_log, rate: 10/min }
)";

TEST(Proof, UsesALimitThatCountsAllRequestsOfTheCallerTogether) {
  const BoundResult result = bound_result(login, "10 per 1min for POST /login by one ip");
  EXPECT_TRUE(result.holds);
  EXPECT_EQ(result.text(), "proved: 10, by login");
}

TEST(Proof, FailsIfMoreCanBeAdmitted) {
  const BoundResult result = bound_result(login, "9 per 1min for POST /login by one ip");
  EXPECT_FALSE(result.holds);
  EXPECT_EQ(result.problem, "up to 10 requests can be admitted, by login");
}

TEST(Proof, DoesNotBoundAnAddressByALimitKeyedByUser) {
  const BoundResult result = bound_result(
      "  - { name: api, consumer_key: [user, ip], algorithm: fixed_window, rate: 10/min }", "1000 per 1min by one ip");
  EXPECT_FALSE(result.holds);
  EXPECT_EQ(result.problem, "no limit bounds callers with a user: api counts them apart, by [user, ip]");
}

TEST(Proof, DoesNotBoundCallersWhoChooseTheirKey) {
  const std::string_view limits =
      "  - { name: account, consumer_key: 'header:X-Account', missing: share, algorithm: fixed_window, rate: 10/min }";
  EXPECT_FALSE(bound_result(limits, "1000 per 1min by one ip").holds);
  EXPECT_TRUE(bound_result(limits, "20 per 1min by one header:X-Account").holds);
}

TEST(Proof, AddsUpLimitsThatCoverDifferentCallers) {
  const std::string_view limits = R"(
  - { name: known, when: authenticated, consumer_key: ip, algorithm: sliding_window_log, rate: 20/min }
  - { name: unknown, when: anonymous, consumer_key: ip, algorithm: sliding_window_log, rate: 5/min }
)";
  const BoundResult result = bound_result(limits, "25 per 1min by one ip");
  EXPECT_EQ(result.text(), "proved: 25, by known and unknown");
  EXPECT_EQ(bound_result(limits, "5 per 1min by one anonymous ip").text(), "proved: 5, by unknown");
}

TEST(Proof, TakesTheSmallestOfSeveralLimits) {
  const std::string_view limits = R"(
  - { name: all, consumer_key: global, algorithm: sliding_window_log, rate: 100/min }
  - { name: one, consumer_key: ip, algorithm: sliding_window_log, rate: 5/min }
)";
  EXPECT_EQ(bound_result(limits, "5 per 1min by one ip").text(), "proved: 5, by one");
  EXPECT_EQ(bound_result(limits, "100 per 1min by everyone").text(), "proved: 100, by all");
}

TEST(Proof, IgnoresLimitsThatDoNotCoverEveryRequest) {
  EXPECT_EQ(bound_result(login, "10 per 1min for /login by one ip").problem,
            "no limit bounds callers without a user or an API key: login does not cover all of these requests");
  EXPECT_FALSE(bound_result("  - { name: login, mode: shadow, consumer_key: ip, algorithm: fixed_window, rate: 1/h }",
                            "10 per 1min by one ip")
                   .holds);
}

TEST(Proof, HoldsForAnAddressConditionOnlyWithAnAddress) {
  const std::string_view limits =
      "  - { name: outside, when: { ip_not_in: [10.0.0.0/8] }, consumer_key: ip, "
      "algorithm: sliding_window_log, rate: 10/min }";
  EXPECT_FALSE(bound_result(limits, "10 per 1min by one ip").holds);
  EXPECT_TRUE(bound_result(limits, "10 per 1min by ip 192.0.2.7").holds);
  EXPECT_FALSE(bound_result(limits, "10 per 1min by ip 10.0.0.7").holds);
}

TEST(Proof, BoundsANamedIdentity) {
  const std::string_view policy = R"(
version: 1
identity: { organization: { header: X-Org-Id } }
limits:
  - { name: org, consumer_key: organization, algorithm: sliding_window_log, rate: 10/min }
)";
  EXPECT_EQ(bound_result(policy, "10 per 1min by one organization").text(), "proved: 10, by org");
  EXPECT_FALSE(bound_result(policy, "10 per 1min by one ip").holds);
  EXPECT_EQ(bound_result(policy, "10 per 1min by one team").problem, "the policy has no identity 'team'");
}

TEST(Proof, DoesNotBoundWhatIsExempt) {
  const std::string_view policy = R"(
version: 1
exempt: { addresses: [10.0.0.0/8], routes: [GET /health] }
limits:
  - { name: all, except: [/static/**], consumer_key: ip, algorithm: sliding_window_log, rate: 10/min }
)";
  EXPECT_EQ(bound_result(policy, "10 per 1min for GET /a by one ip").text(), "proved: 10, by all");
  EXPECT_FALSE(bound_result(policy, "10 per 1min for GET /a by ip 10.0.0.7").holds);
  EXPECT_FALSE(bound_result(policy, "10 per 1min for GET /health by one ip").holds);
  EXPECT_FALSE(bound_result(policy, "10 per 1min for GET /static/a by one ip").holds);
  EXPECT_FALSE(bound_result(policy, "10 per 1min by one ip").holds);
}

TEST(Proof, CountsRequestsByTheirLowestCost) {
  const std::string_view limits =
      "  - { name: api, routes: [/api/**], consumer_key: user, algorithm: "
      "sliding_window_log, rate: 20/min, cost: { POST /api/search: 5 } }";
  EXPECT_EQ(bound_result(limits, "4 per 1min for POST /api/search by one user").text(), "proved: 4, by api");
  EXPECT_EQ(bound_result(limits, "20 per 1min for /api/** by one user").text(), "proved: 20, by api");
}

TEST(Proof, AddsTheWarningsOfALimit) {
  const std::string_view limits =
      "  - { name: api, consumer_key: ip, algorithm: sliding_window_log, rate: 10/min, "
      "warn_first: { count: 3, per: 1h } }";
  EXPECT_EQ(bound_result(limits, "13 per 1min by one ip").text(), "proved: 13, by api");
}

TEST(Proof, IsMadeForTheTierWithTheHighestNumber) {
  const std::string_view limits =
      "  - { name: api, consumer_key: ip, algorithm: sliding_window_log, rate: 10/min, "
      "tier_overrides: { pro: { rate: 50/min }, staff: unlimited } }";
  EXPECT_EQ(bound_result(limits, "50 per 1min by one ip").problem,
            "no limit bounds callers without a user or an API key: api has no limit for this tier in tier staff");
  EXPECT_TRUE(bound_result(limits, "50 per 1min by one ip in tier pro").holds);
  EXPECT_EQ(bound_result(limits, "50 per 1min by one ip in tier por").problem,
            "the policy has no tier 'por', did you mean 'pro'?");
}

TEST(Proof, OfABanIsZero) {
  EXPECT_EQ(bound_result("  - { name: gone, routes: [/old], consumer_key: ip, rate: 0 }",
                         "0 per 1min for GET /old by everyone")
                .text(),
            "proved: 0, by gone");
}

TEST(Proof, OfACalendarWindowIsItsLimitPerWindow) {
  const std::string_view limits =
      "  - { name: quota, consumer_key: user, missing: deny, algorithm: fixed_window, rate: 1000/month }";
  EXPECT_EQ(bound_result(limits, "1000 per month by one user").text(), "proved: 1000, by quota");
  EXPECT_EQ(bound_result(limits, "2000 per 1day by one user").text(), "proved: 2000, by quota");
}

TEST(Proof, OfConcurrencyIsANumberAtOnce) {
  const std::string_view limits = "  - { name: slots, consumer_key: user, algorithm: concurrency, limit: 5 }";
  EXPECT_EQ(bound_result(limits, "5 at once by one user").text(), "proved: 5, by slots");
  EXPECT_FALSE(bound_result(limits, "5 per 1min by one user").holds);
}

TEST(Bound, ThatIsWrittenWrongSaysWhatToWrite) {
  const auto error = [](std::string_view text) {
    const auto bound = parse_bound(text);
    return bound ? "" : bound.error().message();
  };
  EXPECT_EQ(error("many per 1min by one ip"),
            "'many': not a number of requests: write it like 20 per 1min for POST /login by one ip");
  EXPECT_EQ(error("20 in 1min by one ip"),
            "'in': missing `per` or `at once`: write it like 20 per 1min for POST /login by one ip");
  EXPECT_EQ(error("20 per fortnight by one ip"), "'fortnight': not a span: write 1min, 10s, 1h, day or month");
  EXPECT_EQ(error("20 per 1min"), "'20 per 1min': missing `by`: write `by one ip`, `by one user` or `by everyone`");
  EXPECT_EQ(error("20 per 1min by one goat!"),
            "'goat!': unknown caller: write ip, user, api_key, header:NAME or a named identity");
  EXPECT_EQ(error("20 per 1min by one anonymous user"), "'anonymous user': a user is never anonymous");
  EXPECT_EQ(error("20 per 1min by one ip twice"),
            "'twice': unexpected; write it like 20 per 1min for POST /login by one ip");
}

}  // namespace
}  // namespace weir::policy_test
