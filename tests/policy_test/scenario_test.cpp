#include <gtest/gtest.h>

#include <string_view>

#include "policy_test/scenario_run.h"
#include "tests/policy_test/policy_test_fixture.h"

namespace weir::policy_test {
namespace {

constexpr std::string_view two_logins = R"(
  - { name: login, routes: [POST /login], consumer_key: ip, algorithm: sliding_window_log, rate: 2/min }
)";

TEST(Scenario, PassesIfEveryAnswerIsAsExpected) {
  EXPECT_EQ(failure_of(two_logins, R"(
      - { request: POST /login, times: 3, expect: { admitted: 2, denied: 1, denied_by: login, reason: exceeded, status: 429, retry_after: 1min, remaining: 0, headers: { Retry-After: 60, X-RateLimit-Limit: 2 } } }
      - { request: POST /login, at: 60s, expect: { verdict: admitted, limit: login, remaining: 1, headers: { Retry-After: absent } } }
      - { request: GET /, expect: { reason: uncovered, covered_by: [] } }
)"),
            "");
}

TEST(Scenario, SaysWhatWasAnsweredInsteadAndWhereItIsExpected) {
  const SuiteReport report = run_steps(two_logins, "      - { request: POST /login, times: 3, expect: admitted }\n");
  ASSERT_EQ(report.failed(), 1U);
  const TestFailure& failure = report.results[0].failures.front();
  EXPECT_EQ(failure.message,
            "request 3 of 3, POST /login at 0 s: denied by login (exceeded, retry after 1 min); expected admitted");
  EXPECT_EQ(failure.at.line, 5);
}

TEST(Scenario, ComparesEachExpectation) {
  const auto failure = [](std::string_view expect) {
    return failure_of(two_logins, "      - { request: POST /login, expect: " + std::string(expect) + " }\n");
  };
  EXPECT_EQ(failure("denied"), "POST /login at 0 s: admitted (within, 1 remaining of login); expected denied");
  EXPECT_EQ(failure("{ denied_by: login }"),
            "POST /login at 0 s: admitted (within, 1 remaining of login); expected denied by login");
  EXPECT_EQ(failure("{ admitted: 0 }"), "1 of 1 requests were admitted; expected 0");
  EXPECT_EQ(failure("{ reason: exceeded }"), "POST /login at 0 s: reason is within; expected exceeded");
  EXPECT_EQ(failure("{ status: 429 }"), "POST /login at 0 s: status is 200; expected 429");
  EXPECT_EQ(failure("{ limit: other }"), "POST /login at 0 s: the deciding limit is login; expected other");
  EXPECT_EQ(failure("{ remaining: 2 }"), "POST /login at 0 s: remaining is 1; expected 2");
  EXPECT_EQ(failure("{ retry_after: never }"), "POST /login at 0 s: retry_after is 0 s; expected never");
  EXPECT_EQ(failure("{ delay: 1s }"), "POST /login at 0 s: delay is 0 s; expected 1 s");
  EXPECT_EQ(failure("{ covered_by: [] }"), "POST /login at 0 s: covered by login; expected no limit");
  EXPECT_EQ(failure("{ would_deny: login }"), "POST /login at 0 s: would be denied by no limit; expected login");
  EXPECT_EQ(failure("{ headers: { X-RateLimit-Limit: 3 } }"),
            "POST /login at 0 s: header X-RateLimit-Limit is '2'; expected '3'");
  EXPECT_EQ(failure("{ headers: { Retry-After: 3 } }"),
            "POST /login at 0 s: header Retry-After is absent; expected '3'");
}

TEST(Scenario, NumbersTheRepetitionsOfAStep) {
  EXPECT_EQ(failure_of(two_logins, R"(
      - { request: POST /login, ip: "203.0.113.{n}", times: 10, expect: admitted }
      - { request: POST /login, ip: 203.0.113.10, times: 2, expect: { admitted: 1, denied_by: login } }
)"),
            "");
}

TEST(Scenario, RunsOnVirtualTime) {
  EXPECT_EQ(failure_of(two_logins, R"(
      - { request: POST /login, every: 30s, times: 100, expect: admitted }
      - { request: POST /login, after: 1s, expect: { denied_by: login, retry_after: 29s } }
)"),
            "");
}

TEST(Scenario, BelievesWhatATrustedProxySaysAndNobodyElse) {
  const std::string_view limits =
      "  - { name: user, consumer_key: user, missing: deny, algorithm: token_bucket, rate: 5/min }";
  EXPECT_EQ(failure_of(limits, R"(
      - { request: GET /, headers: { X-User-Id: alice }, expect: { remaining: 4 } }
      - { request: GET /, ip: 203.0.113.7, headers: { X-User-Id: alice }, expect: { reason: key_missing, status: 403, retry_after: never } }
      - { request: GET /, user: alice, expect: { remaining: 3 } }
)"),
            "");
}

TEST(Scenario, SettlesAndReleasesReservations) {
  const std::string_view limits = "  - { name: tokens, consumer_key: user, algorithm: fixed_window, rate: 100/min }";
  EXPECT_EQ(failure_of(limits, R"(
      - { reserve: POST /chat, user: alice, cost: 80, as: first, expect: { remaining: 20 } }
      - { request: POST /chat, user: alice, cost: 30, expect: { denied_by: tokens } }
      - { settle: first, actual: 50, expect: { result: done } }
      - { settle: first, actual: 50, expect: { result: ended } }
      - { reserve: POST /chat, user: alice, cost: 30, as: second, expect: { remaining: 20 } }
      - { release: second }
      - { request: POST /chat, user: alice, cost: 50, expect: { verdict: admitted, remaining: 0 } }
)"),
            "");
}

TEST(Scenario, ReportsUsageIntoDebt) {
  const std::string_view limits = "  - { name: tokens, consumer_key: user, algorithm: fixed_window, rate: 100/min }";
  EXPECT_EQ(failure_of(limits, R"(
      - { report: POST /chat, user: alice, cost: 90, expect: { verdict: admitted, remaining: 10, limit: tokens } }
      - { report: POST /chat, user: alice, cost: 50, expect: admitted }
      - { request: POST /chat, user: alice, cost: 0, expect: { denied_by: tokens } }
)"),
            "");
}

TEST(Scenario, HoldsUnitsOfAConcurrencyLimitUntilTheyAreReleased) {
  const std::string_view limits =
      "  - { name: slots, consumer_key: user, algorithm: concurrency, limit: 1, lease: 1min }";
  EXPECT_EQ(failure_of(limits, R"(
      - { reserve: GET /, user: alice, as: held, expect: admitted }
      - { reserve: GET /, user: alice, expect: { denied_by: slots, retry_after: 1min } }
      - { extend: held, at: 30s, expect: { result: done } }
      - { release: held, expect: { result: done } }
      - { reserve: GET /, user: alice, expect: admitted }
      - { request: GET /, user: bob, expect: { reason: needs_receipt } }
)"),
            "");
}

TEST(Scenario, AppliesEachFallbackWhileTheStoreIsUnavailable) {
  const std::string_view limits = R"(
  - { name: shared, routes: [/shared], consumer_key: ip, algorithm: token_bucket, rate: 10/min, on_store_failure: local }
  - { name: open, routes: [/open], consumer_key: ip, algorithm: token_bucket, rate: 10/min, on_store_failure: open }
  - { name: closed, routes: [/closed], consumer_key: ip, algorithm: token_bucket, rate: 10/min, on_store_failure: closed }
)";
  EXPECT_EQ(failure_of(limits, R"(
      - { request: /shared, expect: { remaining: 9 } }
      - store: unavailable
      - { request: /shared, times: 6, expect: { admitted: 5, denied_by: shared } }
      - { request: /open, times: 20, expect: admitted }
      - { request: /closed, expect: { denied_by: closed, reason: store_unavailable, retry_after: 1s } }
      - store: available
      - { request: /closed, expect: admitted }
      - { request: /shared, expect: { verdict: admitted, remaining: 3 } }
)"),
            "");
}

TEST(Scenario, FollowsTheCalendarFromItsStart) {
  const TestFile file = tests_of(R"(
tests:
  - name: the quota is new each month
    start: 2026-01-31T23:59:50Z
    user: alice
    steps:
      - { request: GET /, times: 4, expect: { admitted: 3, denied_by: quota, retry_after: 10s } }
      - { request: GET /, after: 10s, expect: { remaining: 2 } }
)");
  const auto policy = policy_of("  - { name: quota, consumer_key: user, algorithm: fixed_window, rate: 3/month }");
  const auto report = run_suite(file, "policy.yaml", policy);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->failed(), 0U) << report_text(*report);
}

TEST(Scenario, ReportsWhatAShadowLimitWouldDeny) {
  EXPECT_EQ(failure_of("  - { name: all, mode: shadow, consumer_key: global, algorithm: gcra, rate: 1/min }", R"(
      - { request: GET /, expect: { would_deny: [] } }
      - { request: GET /, expect: { verdict: admitted, would_deny: all, covered_by: [] } }
)"),
            "");
}

}  // namespace
}  // namespace weir::policy_test
