// CL.THROTTLE compared with redis-cell's own table, and its error texts.
#include "wire/resp/throttle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/algorithm/buckets.h"

namespace weir::wire::resp {
namespace {

using namespace std::chrono_literals;

using Words = std::vector<std::string_view>;

const Instant start = std::chrono::sys_days{std::chrono::year{2024} / 2 / 29};

TEST(RespThrottle, AnswersAsRedisCellDoes) {
  struct Row {
    Duration at;
    std::string_view quantity;
    ThrottleReply expected;  // limited, limit, remaining, retry_after, reset_after
  };
  const auto allowed = [](std::int64_t remaining, std::int64_t reset) {
    return ThrottleReply{0, 5, remaining, -1, reset};
  };
  const auto limited = [](std::int64_t remaining, std::int64_t retry, std::int64_t reset) {
    return ThrottleReply{1, 5, remaining, retry, reset};
  };
  core::Gcra::State state;
  for (const Row& row : {
           Row{0s, "6", limited(5, -1, 0)},  // can never fit
           Row{0s, "1", allowed(4, 1)}, Row{0s, "1", allowed(3, 2)}, Row{0s, "1", allowed(2, 3)},
           Row{0s, "1", allowed(1, 4)}, Row{0s, "1", allowed(0, 5)}, Row{0s, "1", limited(0, 1, 5)},
           Row{3s, "1", allowed(2, 3)}, Row{3100ms, "1", allowed(1, 4)},  // 3.9 s
           Row{4s, "1", allowed(1, 4)}, Row{8s, "1", allowed(4, 1)}, Row{9500ms, "1", allowed(4, 1)},
           Row{9500ms, "0", allowed(4, 1)}, Row{9500ms, "2", allowed(2, 3)}, Row{9500ms, "5", limited(2, 3, 3)},
           Row{9500ms + 1us, "5", limited(2, 3, 3)},  // rounded up, not to the nearest
       }) {
    const auto arguments = parse_throttle(Words{"CL.THROTTLE", "key", "4", "1", "1", row.quantity});
    ASSERT_TRUE(arguments);
    const core::Gcra::Limit limit(Limit::gcra(arguments->numbers).value());
    const Decision decision = core::Gcra::decide(limit, state, arguments->quantity, start + row.at);
    const ThrottleReply reply = throttle_reply(decision);
    SCOPED_TRACE(std::to_string(row.at.count()) + " us, quantity " + std::string(row.quantity));
    EXPECT_EQ(reply.limited, row.expected.limited);
    EXPECT_EQ(reply.limit, row.expected.limit);
    EXPECT_EQ(reply.remaining, row.expected.remaining);
    EXPECT_EQ(reply.retry_after, row.expected.retry_after);
    EXPECT_EQ(reply.reset_after, row.expected.reset_after);
  }
}

TEST(RespThrottle, SecondsAreNeverShorterThanTheWait) {
  const auto retry_after = [](Duration wait) { return throttle_reply({.retry_after = wait}).retry_after; };
  EXPECT_EQ(retry_after(1us), 1);
  EXPECT_EQ(retry_after(999'999us), 1);
  EXPECT_EQ(retry_after(1s), 1);
  EXPECT_EQ(retry_after(1s + 1us), 2);
  EXPECT_EQ(throttle_reply({.admitted = true, .reset_after = 1us}).reset_after, 1);
  EXPECT_EQ(throttle_reply({.admitted = true, .reset_after = Duration::max()}).reset_after, 9'223'372'036'855);
}

TEST(RespThrottle, ReadsItsArguments) {
  const auto five = parse_throttle(Words{"cl.throttle", "user:1", "15", "30", "60"});
  ASSERT_TRUE(five);
  EXPECT_EQ(five->key, "user:1");
  EXPECT_EQ(five->numbers.rate, (Rate{30, 60s}));
  EXPECT_EQ(five->numbers.burst, 16U);
  EXPECT_EQ(five->quantity, Cost(1));
  const auto six = parse_throttle(Words{"cl.throttle", "", "0", "+1", "0060", "0"});
  ASSERT_TRUE(six);
  EXPECT_EQ(six->numbers.rate, (Rate{1, 60s}));
  EXPECT_EQ(six->numbers.burst, 1U);
  EXPECT_EQ(six->quantity, Cost(0));
  const auto largest = parse_throttle(Words{"", "", "9223372036854775807", "9223372036854775807", "9223372036854"});
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->numbers.burst, std::uint64_t{1} << 63);
}

TEST(RespThrottle, ErrorsHaveTheTextsOfRedisCell) {
  struct Row {
    Words arguments;
    std::string problem;
  };
  const std::string usage = "Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]";
  const std::string long_text(200, 'x');
  for (const Row& row : {
           Row{{"cl.throttle"}, usage},
           Row{{"cl.throttle", "k", "1", "1"}, usage},
           Row{{"cl.throttle", "k", "1", "1", "1", "1", "1"}, usage},
           Row{{"cl.throttle", "k", "a", "b", "1"}, "Couldn't parse as integer: a"},
           Row{{"cl.throttle", "k", "1", "", "1"}, "Couldn't parse as integer: "},
           Row{{"cl.throttle", "k", "1", "1", "1.5"}, "Couldn't parse as integer: 1.5"},
           Row{{"cl.throttle", "k", "1", "1", " 1"}, "Couldn't parse as integer:  1"},
           Row{{"cl.throttle", "k", "1", "1", "1", "+-1"}, "Couldn't parse as integer: +-1"},
           Row{{"cl.throttle", "k", "1", "1", "1", "+"}, "Couldn't parse as integer: +"},
           Row{{"cl.throttle", "k", "1", "1", "9223372036854775808"}, "Couldn't parse as integer: 9223372036854775808"},
           Row{{"cl.throttle", "k", "1", "0", "1"}, "Zero rates are not supported"},
           Row{{"cl.throttle", "k", "1", "1", "0"}, "Zero rates are not supported"},
           Row{{"cl.throttle", "k", "-1", "1", "1"}, "Negative numbers are not supported: -1"},
           Row{{"cl.throttle", "k", "1", "1", "1", "-2"}, "Negative numbers are not supported: -2"},
           Row{{"cl.throttle", "k", "1", "1", "9223372036855"}, "Period is too long: 9223372036855"},
           Row{{"cl.throttle", "k", long_text, "1", "1"}, "Couldn't parse as integer: " + long_text.substr(0, 128)},
       }) {
    const auto arguments = parse_throttle(row.arguments);
    ASSERT_FALSE(arguments) << row.problem;
    EXPECT_EQ(arguments.error().message(), "Cell error: Store error: " + row.problem);
  }
}

TEST(RespThrottle, ReplyIsFiveIntegers) {
  std::string out = "+OK\r\n";
  append_throttle_reply(out, {.limited = 1, .limit = 16, .remaining = 0, .retry_after = 2, .reset_after = 32});
  EXPECT_EQ(out, "+OK\r\n*5\r\n:1\r\n:16\r\n:0\r\n:2\r\n:32\r\n");
  out.clear();
  const Decision decision{.limit = ~std::uint64_t{0}, .remaining = ~std::uint64_t{0}, .retry_after = {}};
  append_throttle_reply(out, throttle_reply(decision));
  EXPECT_EQ(out, "*5\r\n:1\r\n:9223372036854775807\r\n:9223372036854775807\r\n:-1\r\n:0\r\n");
}

}  // namespace
}  // namespace weir::wire::resp
