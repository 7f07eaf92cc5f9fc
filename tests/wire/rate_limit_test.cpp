// RateLimit and RateLimit-Policy: the draft's examples and invalid fields.
#include "wire/fields/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/fields/delta_seconds.h"
#include "wire/fields/structured_list.h"

namespace weir::wire {
namespace {

using namespace std::chrono_literals;
using Limits = std::vector<RateLimit>;
using Policies = std::vector<RateLimitPolicy>;

RateLimit limit(std::string_view name, std::uint64_t remaining, std::optional<Duration> more_after = {},
                std::string_view partition_key = {}) {
  return {.name = name, .remaining = remaining, .more_after = more_after, .partition_key = partition_key};
}

TEST(RateLimitField, ParsesRemainingAndReset) {
  struct Row {
    std::string_view field;
    Limits expected;
  };
  for (const Row& row : {
           Row{R"("default";r=50;t=30)", {limit("default", 50, 30s)}},
           Row{R"("default";r=0;t=0)", {limit("default", 0, 0s)}},
           Row{R"("default";r=7)", {limit("default", 7)}},
           Row{R"("";t=5;r=1)", {limit("", 1, 5s)}},
           Row{R"("a";r=1;t=2;pk=:cHsdsRa894==:, "b";r=3;t=4)", {limit("a", 1, 2s, "cHsdsRa894=="), limit("b", 3, 4s)}},
           Row{R"("say \"hi\" \\";r=1)", {limit(R"(say \"hi\" \\)", 1)}},
           Row{R"("a";r=999999999999999)", {limit("a", 999'999'999'999'999)}},
       }) {
    EXPECT_EQ(parse_rate_limit(row.field), row.expected) << row.field;
  }
}

TEST(RateLimitField, UnknownParametersAreIgnoredWhateverTheirType) {
  EXPECT_EQ(parse_rate_limit(R"("a";r=1;weir-x;y=tok;z=1.5;d=@5;u=%"%c3%a9";b=:YQ==:;s="r=9";t=2)"),
            (Limits{limit("a", 1, 2s)}));
}

TEST(RateLimitField, LastOfDuplicateParametersTakesPrecedence) {
  EXPECT_EQ(parse_rate_limit(R"("a";r=1;r=2)"), (Limits{limit("a", 2)}));
  EXPECT_EQ(parse_rate_limit(R"("a";r="x";r=2)"), (Limits{limit("a", 2)}));
  EXPECT_FALSE(parse_rate_limit(R"("a";r=2;r="x")"));
}

TEST(RateLimitField, HugeTimeIsClampedToTheMaximumWait) {
  EXPECT_EQ(parse_rate_limit(R"("a";r=0;t=999999999999999)"), (Limits{limit("a", 0, max_wait)}));
}

TEST(RateLimitField, OneInvalidMemberRejectsTheField) {
  for (const std::string_view wrong : {
           R"("b")",  // r is required
           R"("b";t=1)",
           R"("b";r)",  // r must be an Integer
           R"("b";r=1.0)",
           R"("b";r="1")",
           R"("b";r=-1)",  // not below zero
           R"("b";r=1;t=-1)",
           R"("b";r=1;t=1.5)",
           R"("b";r=1;t)",
           R"("b";r=1;pk="x")",  // a Byte Sequence
           R"("b";r=1;pk=:x:)",
           R"("b";r=1000000000000000)",
           R"(b;r=1)",  // a String
           R"(1;r=1)",
           R"(("b");r=1)",
           R"("b";r=1;)",
           R"("b";r=1 x)",
           R"("b";R=1)",
           "limit=100, remaining=50, reset=5",
       }) {
    EXPECT_FALSE(parse_rate_limit(wrong)) << wrong;
    EXPECT_FALSE(parse_rate_limit(std::string(R"("a";r=1, )") + std::string(wrong))) << wrong;
    EXPECT_FALSE(parse_rate_limit(std::string(wrong) + R"(, "a";r=1)")) << wrong;
  }
}

TEST(RateLimitField, EmptyFieldIsInvalid) {
  EXPECT_FALSE(parse_rate_limit(""));
  EXPECT_FALSE(parse_rate_limit("  "));
  EXPECT_FALSE(parse_rate_limit_policy(""));
}

TEST(RateLimitField, TooManyMembersRejectTheField) {
  std::string field = R"("a";r=1)";
  for (std::size_t count = 1; count < ListReader::max_members; ++count) field += R"(,"a";r=1)";
  ASSERT_TRUE(parse_rate_limit(field));
  EXPECT_EQ(parse_rate_limit(field)->size(), ListReader::max_members);
  EXPECT_FALSE(parse_rate_limit(field + R"(,"a";r=1)"));
}

TEST(RateLimitPolicyField, ReadsEveryParameterOfAPolicy) {
  const std::string_view field = R"("permin";q=50;w=60,"peruser";q=65535;qu="content-bytes";w=10;pk=:sdfjLJUOUH==:)";
  const Policies expected{{.name = "permin", .quota = 50, .window = 60s, .unit = QuotaUnit::requests},
                          {.name = "peruser",
                           .quota = 65535,
                           .window = 10s,
                           .unit = QuotaUnit::content_bytes,
                           .partition_key = "sdfjLJUOUH=="}};
  EXPECT_EQ(parse_rate_limit_policy(field), expected);
}

TEST(RateLimitPolicyField, UnitIsRequestsByDefault) {
  struct Row {
    std::string_view field;
    QuotaUnit expected;
  };
  for (const Row& row : {
           Row{R"("a";q=0)", QuotaUnit::requests},
           Row{R"("a";q=0;qu="requests")", QuotaUnit::requests},
           Row{R"("a";q=0;qu="content-bytes")", QuotaUnit::content_bytes},
           Row{R"("a";q=0;qu="concurrent-requests")", QuotaUnit::concurrent_requests},
           Row{R"("a";q=0;qu="tokens")", QuotaUnit::unknown},
           Row{R"("a";q=0;qu="")", QuotaUnit::unknown},
       }) {
    const auto policies = parse_rate_limit_policy(row.field);
    ASSERT_TRUE(policies) << row.field;
    EXPECT_EQ(policies->front().unit, row.expected) << row.field;
    EXPECT_FALSE(policies->front().window) << row.field;
  }
}

TEST(RateLimitPolicyField, OneInvalidMemberRejectsTheField) {
  for (const std::string_view wrong : {
           R"("b")",
           R"("b";w=60)",
           R"("b";q=-1)",
           R"("b";q=1.5)",
           R"("b";q=1;w=0)",
           R"("b";q=1;w=0.5)",
           R"("b";q=1;qu=requests)",
           R"("b";q=1;pk="x")",
           R"(b;q=1)",
           R"(100;w=60)",
       }) {
    EXPECT_FALSE(parse_rate_limit_policy(wrong)) << wrong;
    EXPECT_FALSE(parse_rate_limit_policy(std::string(R"("a";q=1, )") + std::string(wrong))) << wrong;
  }
}

}  // namespace
}  // namespace weir::wire
