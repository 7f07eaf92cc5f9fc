// The fields of an answer: values, rounding, clamping to 15 digits and escaping.
#include "wire/fields/answer_fields.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weir::wire {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::pair<std::string, std::string>>;

const Instant answered_at = std::chrono::sys_days{std::chrono::year{2025} / 11 / 15} + 500ms;  // 1763164800.5

Lines lines_of(const AnswerFields& answer, const FieldChoice& choice = {}) {
  Lines lines;
  for_each_field(answer, choice, answered_at,
                 [&](std::string_view name, std::string_view value) { lines.emplace_back(name, value); });
  return lines;
}

AnswerFields admitted() {
  return {.policy = "per-user", .quota = 100, .window = 60s, .remaining = 50, .until_more = 600ms, .reset_after = 30s};
}

AnswerFields denied() {
  AnswerFields answer = admitted();
  answer.remaining = 0;
  answer.retry_after = 1200ms;
  return answer;
}

TEST(AnswerFields, AdmittedAnswerHasTheRemainingQuota) {
  EXPECT_EQ(lines_of(admitted()), (Lines{{"RateLimit-Policy", R"("per-user";q=100;w=60)"},
                                         {"RateLimit", R"("per-user";r=50;t=1)"},
                                         {"X-RateLimit-Limit", "100"},
                                         {"X-RateLimit-Remaining", "50"},
                                         {"X-RateLimit-Reset", "30"}}));
}

TEST(AnswerFields, DenialHasRetryAfter) {
  EXPECT_EQ(lines_of(denied(), {.rate_limit = false, .x_rate_limit = false}), (Lines{{"Retry-After", "2"}}));
}

// It is unknown when a running request ends.
TEST(AnswerFields, ConcurrencyLimitHasNoTimes) {
  AnswerFields answer{.policy = "running", .quota = 5, .is_concurrency = true, .remaining = 2};
  EXPECT_EQ(lines_of(answer, {.legacy_fields = true}),
            (Lines{{"RateLimit-Policy", R"("running";q=5;qu="concurrent-requests")"},
                   {"RateLimit", R"("running";r=2)"},
                   {"X-RateLimit-Limit", "5"},
                   {"X-RateLimit-Remaining", "2"},
                   {"RateLimit-Limit", "5"},
                   {"RateLimit-Remaining", "2"}}));
  answer.remaining = 0;
  answer.retry_after = 41200ms;
  EXPECT_EQ(lines_of(answer, {.rate_limit = false, .x_rate_limit = false}), (Lines{{"Retry-After", "42"}}));
}

TEST(AnswerFields, LegacyFieldsAreSentOnRequest) {
  EXPECT_EQ(lines_of(admitted(), {.rate_limit = false, .x_rate_limit = false, .legacy_fields = true}),
            (Lines{{"RateLimit-Limit", "100"}, {"RateLimit-Remaining", "50"}, {"RateLimit-Reset", "30"}}));
}

TEST(AnswerFields, ResetIsADeltaOrAnEpoch) {
  EXPECT_EQ(lines_of(admitted(), {.rate_limit = false, .x_reset_as_epoch = true, .legacy_fields = true}),
            (Lines{{"X-RateLimit-Limit", "100"},
                   {"X-RateLimit-Remaining", "50"},
                   {"X-RateLimit-Reset", "1763164831"},
                   {"RateLimit-Limit", "100"},
                   {"RateLimit-Remaining", "50"},
                   {"RateLimit-Reset", "30"}}));
}

TEST(AnswerFields, FullLimitHasNoTimeUntilMore) {
  AnswerFields answer = admitted();
  answer.until_more.reset();
  EXPECT_EQ(rate_limit_field(answer).view(), R"("per-user";r=50)");
}

TEST(AnswerFields, UnknownWindowIsOmitted) {
  AnswerFields answer = admitted();
  answer.window = 0s;
  EXPECT_EQ(rate_limit_policy_field(answer).view(), R"("per-user";q=100)");
  answer.window = 1us;
  EXPECT_EQ(rate_limit_policy_field(answer).view(), R"("per-user";q=100;w=1)");
}

TEST(AnswerFields, SecondsAreRoundedUp) {
  struct Row {
    Duration duration;
    std::string_view expected;
  };
  for (const Row& row : {
           Row{-1us, "0"},
           Row{Duration::min(), "0"},
           Row{0us, "0"},
           Row{1us, "1"},
           Row{999'999us, "1"},
           Row{1s, "1"},
           Row{1s + 1us, "2"},
           Row{Duration::max(), "9223372036855"},
       }) {
    EXPECT_EQ(reset_field(row.duration, ResetForm::delta, answered_at).view(), row.expected);
    EXPECT_EQ(retry_after_field(row.duration, {}).view(), row.expected);
  }
  EXPECT_EQ(reset_field(0s, ResetForm::epoch, answered_at).view(), "1763164801");
  EXPECT_EQ(reset_field(500ms, ResetForm::epoch, answered_at).view(), "1763164801");
  EXPECT_EQ(reset_field(500'001us, ResetForm::epoch, answered_at).view(), "1763164802");
  EXPECT_EQ(reset_field(Duration::max(), ResetForm::epoch, answered_at).view(), "9223372036855");
  EXPECT_EQ(reset_field(1s, ResetForm::epoch, Instant::min()).view(), "0");
}

TEST(AnswerFields, RetryAfterIsNeverEarlierThanT) {
  EXPECT_EQ(retry_after_field(1s, 3s).view(), "3");
  EXPECT_EQ(retry_after_field(3s, 1s).view(), "3");
  EXPECT_EQ(retry_after_field(1s, -1s).view(), "1");
}

TEST(AnswerFields, IntegersHaveAtMostFifteenDigits) {
  EXPECT_EQ(count_field(999'999'999'999'999).view(), "999999999999999");
  EXPECT_EQ(count_field(1'000'000'000'000'000).view(), "999999999999999");
  EXPECT_EQ(count_field(std::numeric_limits<std::uint64_t>::max()).view(), "999999999999999");
}

TEST(AnswerFields, NameIsAString) {
  struct Row {
    std::string name;
    std::string expected;
  };
  for (const Row& row : {
           Row{"", ""},
           Row{"a b~", "a b~"},
           Row{R"(say "hi" \)", R"(say \"hi\" \\)"},
           Row{"caf\xC3\xA9", "caf%C3%A9"},
           Row{"a\r\nb\x7F", "a%0D%0Ab%7F"},
           Row{std::string("\0", 1), "%00"},
           Row{std::string(128, 'x'), std::string(128, 'x')},
           Row{std::string(129, 'x'), std::string(128, 'x')},
           Row{std::string(126, 'x') + "\xC3\xA9", std::string(126, 'x')},
           Row{std::string(125, 'x') + "\xC3\xA9", std::string(125, 'x') + "%C3"},
       }) {
    EXPECT_EQ(rate_limit_field({.policy = row.name}).view(), '"' + row.expected + "\";r=0") << row.name;
  }
}

TEST(AnswerFields, LongestFieldFits) {
  const std::string name(200, '"');
  const AnswerFields answer{.policy = name,
                            .quota = max_field_integer,
                            .window = Duration::max(),
                            .remaining = max_field_integer,
                            .until_more = Duration::max()};
  EXPECT_TRUE(rate_limit_policy_field(answer).view().ends_with(";q=999999999999999;w=9223372036855"));
  EXPECT_TRUE(rate_limit_field(answer).view().ends_with(";r=999999999999999;t=9223372036855"));
}

}  // namespace
}  // namespace weir::wire
