#include "policy_test/test_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weir::policy_test {
namespace {

// The first problem of a file with this test, `LINE:COLUMN: message`.
std::string problem_of(std::string_view text) {
  const auto loaded = read_tests(text, "policy.test.yaml");
  EXPECT_EQ(loaded.problems.empty(), loaded.file.has_value());
  if (loaded.problems.empty()) return "";
  const Problem& first = loaded.problems.front();
  return std::to_string(first.at.line) + ":" + std::to_string(first.at.column) + ": " + first.message;
}

std::string problem_of_step(std::string_view step) {
  return problem_of("version: 1\ntests:\n  - name: t\n    steps:\n      - " + std::string(step) +
                    "\n      - { request: GET /, expect: admitted }\n");
}

TEST(TestFile, TestsThePolicyBesideIt) {
  EXPECT_EQ(default_policy("a/policy.test.yaml"), "a/policy.yaml");
  EXPECT_EQ(default_policy("tests.yaml"), "");
  const auto loaded = read_tests("version: 1\nbounds:\n  - at_most: 1 per 1s by everyone\n", "a/policy.test.yaml");
  ASSERT_TRUE(loaded.file.has_value());
  EXPECT_EQ(loaded.file->policies.at(0).value, "policy.yaml");
}

TEST(TestFile, MayTestSeveralPolicies) {
  const auto loaded =
      read_tests("version: 1\npolicy: [a.yaml, b.yaml]\nbounds:\n  - at_most: 1 per 1s by everyone\n", "tests.yaml");
  ASSERT_TRUE(loaded.file.has_value());
  EXPECT_EQ(loaded.file->policies.size(), 2U);
}

TEST(TestFile, GivesTheCallerOfATestToEachStep) {
  const auto loaded = read_tests(R"(
version: 1
tests:
  - name: t
    user: alice
    headers: { X-Team: red, X-Plan: pro }
    steps:
      - { request: POST /a, expect: admitted }
      - { request: /b, user: bob, headers: { x-team: blue } }
)",
                                 "policy.test.yaml");
  ASSERT_TRUE(loaded.file.has_value());
  const auto& steps = loaded.file->scenarios.at(0).steps;
  EXPECT_EQ(steps[0].request.user, "alice");
  EXPECT_EQ(steps[0].request.method, "POST");
  EXPECT_EQ(steps[1].request.user, "bob");
  EXPECT_EQ(steps[1].request.method, "GET");
  ASSERT_EQ(steps[1].request.headers.size(), 2U);
  EXPECT_EQ(steps[1].request.headers[1].second, "blue");
}

TEST(TestFile, ThatIsWrongSaysWhereAndWhatToWrite) {
  EXPECT_EQ(problem_of("version: 1\n"), "1:1: test file is empty: write tests or bounds");
  EXPECT_EQ(problem_of("version: 2\ntests: []\n"), "1:10: version 2: unknown; write version: 1");
  EXPECT_EQ(problem_of("version: 1\nscenarios: []\n"), "2:1: unknown field 'scenarios', did you mean 'tests'?");
  EXPECT_EQ(problem_of("version: 1\ntests:\n  - name: t\n    steps:\n      - request: GET /\n"),
            "3:5: test 't' expects nothing: add expect to a step");
  const std::string_view step = "    steps:\n      - { request: GET /, expect: admitted }\n";
  EXPECT_EQ(problem_of("version: 1\ntests:\n  - name: t\n" + std::string(step) + "  - name: t\n" + std::string(step)),
            "6:11: duplicate test 't'");
}

TEST(TestFile, WithAWrongStepSaysWhereAndWhatToWrite) {
  EXPECT_EQ(problem_of_step("{ expect: admitted }"),
            "5:9: step has no action: write request, reserve, report, settle, release, extend or store");
  EXPECT_EQ(problem_of_step("{ request: GET /, store: available }"),
            "5:34: a step has one action, but this one has both `request` and `store`: write two steps");
  EXPECT_EQ(problem_of_step("{ request: login }"), "5:20: request 'login': not a method and a path: write POST /login");
  EXPECT_EQ(problem_of_step("{ request: GET /, ip: home }"),
            "5:31: ip 'home': not an address: write 192.0.2.7 or 2001:db8::7");
  EXPECT_EQ(problem_of_step("{ request: GET /, at: 5s, after: 5s }"),
            "5:9: at and after exclude each other: at counts from the start");
  EXPECT_EQ(problem_of_step("{ settle: first, actual: 1 }"),
            "5:19: settle 'first': unknown receipt; a reserve names it with `as`");
  EXPECT_EQ(problem_of_step("{ store: broken }"), "5:18: store must be unavailable or available");
  EXPECT_EQ(problem_of_step("{ request: GET /, expect: allowed }"),
            "5:35: expect must be admitted, denied or a map of expectations, like { denied_by: LIMIT }");
  EXPECT_EQ(problem_of_step("{ request: GET /, expect: { limited_by: a } }"),
            "5:37: unknown field 'limited_by', did you mean 'denied_by'?");
  EXPECT_EQ(problem_of_step("{ request: GET /, expect: { reason: exceded } }"),
            "5:45: reason 'exceded': unknown reason, did you mean 'exceeded'?");
  EXPECT_EQ(problem_of_step("{ request: GET /, expect: { retry_after: soon } }"),
            "5:50: retry_after 'soon': not a wait: write 30s, 200ms or never");
}

TEST(TestFile, RejectsTimeThatRunsBackwards) {
  EXPECT_EQ(
      problem_of("version: 1\ntests:\n  - name: t\n    steps:\n      - { request: GET /, at: 5s, expect: admitted }\n"
                 "      - { request: GET /, at: 4s }\n"),
      "6:9: at lies before the end of the previous step: time does not run backwards");
}

TEST(TestFile, WithAWrongBoundSaysWhichWord) {
  EXPECT_EQ(problem_of("version: 1\nbounds:\n  - at_most: 10 per 1min by a dog\n"),
            "3:14: at_most 'a': unknown caller: write `by one ip`, `by one user` or `by everyone`");
}

TEST(TestFile, HasASchemaWithEveryField) {
  const std::string schema = test_schema();
  for (const std::string_view field :
       {"version", "policy",  "nodes",   "tests",       "bounds",    "name",       "start",     "steps",     "at",
        "after",   "request", "reserve", "report",      "settle",    "as",         "extend",    "release",   "store",
        "actual",  "times",   "every",   "ip",          "user",      "tier",       "cost",      "api_key",   "max_wait",
        "headers", "expect",  "verdict", "admitted",    "denied",    "limit",      "reason",    "denied_by", "status",
        "delay",   "result",  "at_most", "retry_after", "remaining", "covered_by", "would_deny"}) {
    EXPECT_NE(schema.find("\"" + std::string(field) + "\": {"), std::string::npos) << field;
  }
}

}  // namespace
}  // namespace weir::policy_test
