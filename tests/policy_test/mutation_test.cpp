#include "policy_test/mutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "policy_test/mutants.h"
#include "tests/policy_test/policy_test_fixture.h"

namespace weir::policy_test {
namespace {

std::vector<std::string> changes_of(std::string_view limits) {
  std::vector<std::string> changes;
  for_each_mutant(*policy_of(limits), [&](const Mutant& mutant) { changes.push_back(mutant.change); });
  return changes;
}

std::vector<std::string> survivors_of(std::string_view limits, std::string_view steps) {
  const SuiteReport report = run_steps(limits, steps, {.filter = {}, .mutate = true});
  EXPECT_EQ(report.failed(), 0U) << report_text(report);
  std::vector<std::string> changes;
  if (report.mutation) {
    for (const Survivor& survivor : report.mutation->survivors) changes.push_back(survivor.change);
  }
  return changes;
}

TEST(Mutants, ChangeOneThingAtATime) {
  EXPECT_EQ(
      changes_of("  - { name: a, routes: [POST /a], consumer_key: user, missing: deny, algorithm: "
                 "sliding_window_log, rate: 10/min }"),
      (std::vector<std::string>{"the limit is removed", "10/min -> 11/min", "10/min -> 9/min", "10/min -> 10 per 30 s",
                                "10/min -> 10 per 2 min", "algorithm sliding_window_log -> sliding_window_counter",
                                "covers every request", "route POST /a with any method", "key user -> global",
                                "missing deny -> skip", "missing deny -> share", "mode enforce -> shadow"}));
}

TEST(Mutants, ChangeTheNumbersOfEachTier) {
  const auto changes = changes_of(
      "  - { name: a, consumer_key: ip, algorithm: token_bucket, rate: 60/min, burst: 5, "
      "tier_overrides: { pro: { rate: 120/min, burst: 10 }, staff: unlimited } }");
  const auto has = [&](std::string_view change) { return std::ranges::find(changes, change) != changes.end(); };
  EXPECT_TRUE(has("1/s, burst 5 -> 1/s, burst 6"));
  EXPECT_TRUE(has("2/s, burst 10 -> 2/s, burst 11 in tier pro"));
  EXPECT_TRUE(has("tier pro has the numbers of the default tier"));
  EXPECT_TRUE(has("tier staff has the numbers of the default tier"));
}

TEST(Mutation, ListsWhatNoTestDetects) {
  const std::string_view limits =
      "  - { name: a, routes: [POST /a], consumer_key: ip, algorithm: sliding_window_log, rate: 2/min }";
  const auto weak = survivors_of(limits, "      - { request: POST /a, times: 2, expect: admitted }\n");
  EXPECT_NE(std::ranges::find(weak, "2/min -> 3/min"), weak.end());
  EXPECT_NE(std::ranges::find(weak, "the limit is removed"), weak.end());
  EXPECT_EQ(std::ranges::find(weak, "2/min -> 1/min"), weak.end());
}

TEST(Mutation, FindsNothingIfEveryChangeIsDetected) {
  const std::string_view limits =
      "  - { name: a, routes: [POST /a], consumer_key: ip, algorithm: sliding_window_log, rate: 2/min }";
  EXPECT_EQ(survivors_of(limits, R"(
      - { request: POST /a, times: 3, expect: { admitted: 2, denied_by: a, retry_after: 1min } }
      - { request: POST /a, ip: 203.0.113.7, expect: admitted }
      - { request: GET /a, expect: { covered_by: [] } }
      - { request: POST /a, at: 75s, expect: { remaining: 1 } }
)"),
            std::vector<std::string>{});
}

TEST(Mutation, NamesTheTestThatIsMissing) {
  const SuiteReport report =
      run_steps("  - { name: a, routes: [POST /a], consumer_key: ip, algorithm: sliding_window_log, rate: 2/min }",
                "      - { request: POST /a, expect: admitted }\n", {.filter = {}, .mutate = true});
  ASSERT_TRUE(report.mutation.has_value());
  const auto& survivors = report.mutation->survivors;
  const auto more = std::ranges::find(survivors, "2/min -> 3/min", &Survivor::change);
  ASSERT_NE(more, survivors.end());
  EXPECT_EQ(more->missing_test, "send POST /a 3 times as one consumer, and expect { admitted: 2, denied_by: a }");
}

TEST(Coverage, ListsThePartsThatNoTestTouches) {
  const SuiteReport report = run_steps(
      "  - { name: a, routes: [POST /a, /b/**], when: anonymous, consumer_key: [user, 'header:X-Team'], missing: deny, "
      "algorithm: fixed_window, rate: 2/min, tier_overrides: { pro: { rate: 5/min } } }",
      "      - { request: POST /a, headers: { X-Team: red }, expect: admitted }\n");
  std::vector<std::string> untouched;
  for (const Untouched& part : report.coverage.untouched) untouched.push_back(part.what);
  EXPECT_EQ(untouched,
            (std::vector<std::string>{"route /b/**", "a denial", "tier pro", "a request outside when: anonymous",
                                      "a request without its key (missing: deny)"}));
  EXPECT_EQ(report.coverage.parts, 6U);
}

TEST(Coverage, IsCompleteIfEveryPartIsTouched) {
  const SuiteReport report = run_steps("  - { name: a, consumer_key: ip, algorithm: fixed_window, rate: 2/min }",
                                       "      - { request: GET /, times: 3, expect: { admitted: 2, denied: 1 } }\n");
  EXPECT_TRUE(report.coverage.untouched.empty());
}

}  // namespace
}  // namespace weir::policy_test
