#include "store/redis/replay.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule.h"
#include "tests/store/memory_store.h"
#include "tests/store_redis/parsed_reply.h"
#include "weir/limit.h"

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;

constexpr Instant now{Duration(100s)};

core::Rule one_in_ten_seconds() {
  return core::compile(*Limit::gcra({{1, Duration(10s)}, 5}));
}

TEST(Replay, DecidesOnTheStatesThatTheScriptRead) {
  const core::Rule rule = one_in_ten_seconds();
  Replay replay;
  replay.begin(now, 2);
  ASSERT_TRUE(replay.place_text(0, rule, "110000000"));  // one is used; the other key does not exist
  Group group;
  group.checks = {check_of("a", rule), check_of("b", rule, 2)};
  constexpr std::array<std::uint32_t, 2> keys{0, 1};
  EXPECT_EQ(replay.decide(group, keys), 1U);
  EXPECT_EQ(group.checks[0].decision.remaining, 3U);
  EXPECT_EQ(group.checks[1].decision.remaining, 3U);
  EXPECT_EQ(replay.decide(group, keys), 1U) << "on the states as they are then";
  EXPECT_EQ(replay.decide(group, keys), 0U);
  EXPECT_FALSE(group.admitted);
  EXPECT_EQ(group.checks[0].decision.remaining, 2U) << "nothing is charged";
  EXPECT_EQ(group.checks[1].decision.remaining, 1U);
}

TEST(Replay, AKeyThatComesTwiceSeesItsFirstCharge) {
  const core::Rule rule = one_in_ten_seconds();
  Replay replay;
  replay.begin(now, 1);
  Group group;
  group.checks = {check_of("a", rule, 3), check_of("a", rule, 3)};
  constexpr std::array<std::uint32_t, 2> keys{0, 0};
  EXPECT_EQ(replay.decide(group, keys), 0U);
  EXPECT_EQ(group.checks[0].decision.remaining, 5U) << "it is undone";
}

TEST(Replay, SaysHowManyReceiptsWereOpened) {
  const core::Rule rule = one_in_ten_seconds();
  Replay replay;
  replay.begin(now, 1);
  core::ReceiptUse use{.id = {1, 2}, .lasts = 1min};
  Group group;
  group.checks = {check_of("a", rule)};
  group.checks[0].receipt = &use;
  constexpr std::array<std::uint32_t, 1> keys{0};
  EXPECT_EQ(replay.decide(group, keys), 2U);
  EXPECT_EQ(replay.decide(group, keys), 1U) << "it is open already";
  EXPECT_EQ(use.result, core::ReceiptResult::repeated);
  group.operation = store::Operation::settle;
  EXPECT_EQ(replay.decide(group, keys), 1U);
  EXPECT_EQ(replay.decide(group, keys), 0U) << "it is settled already";
}

TEST(Replay, ALogIsChargedWhatTheScriptSays) {
  const core::Rule rule = core::compile(*Limit::sliding_window_log({10, Duration(60s)}));
  Replay replay;
  Group group;
  group.operation = store::Operation::report;
  group.checks = {check_of("a", rule, 3)};
  constexpr std::array<std::uint32_t, 1> keys{0};
  for (const std::uint64_t charged : {3U, 4U}) {
    replay.begin(now, 1);
    replay.place_log(0, {.used = 5, .newest = core::micros(now), .points = {}});
    const std::vector<std::uint64_t> charges{charged};
    EXPECT_EQ(replay.decide(group, keys, charges), charged == 3 ? 1U : SharedDecider::impossible);
    EXPECT_EQ(group.checks[0].decision.remaining, 5U) << "returned in its state afterwards";
  }
}

TEST(Replay, ReadsTextsThatAreStates) {
  const core::Rule bucket = one_in_ten_seconds();
  const core::Rule window = core::compile(*Limit::fixed_window({5, Duration(60s)}));
  const core::Rule holds = core::compile(*Limit::concurrency({5, Duration(60s)}));
  const struct {
    const core::Rule& rule;
    std::string_view text;
    bool is_state;
  } rows[] = {
      {bucket, "0", true},
      {bucket, "110000000:3", true},
      {bucket, "9007199254740991", true},
      {bucket, "9007199254740992", false},
      {bucket, "-1", false},
      {bucket, "01", false},
      {bucket, "1:", false},
      {bucket, "", false},
      {bucket, "1 ", false},
      {bucket, "1|short", false},
      {bucket, "1#short", false},
      {window, "1048577", true},
      {window, "x", false},
      {holds, "0", false},
  };
  for (const auto& row : rows) {
    Replay replay;
    replay.begin(now, 1);
    EXPECT_EQ(replay.place_text(0, row.rule, row.text), row.is_state) << row.text;
  }
}

// The totals of one open receipt, and that receipt.
TEST(Replay, ReadsReceiptsThatAreSound) {
  const core::Rule bucket = one_in_ten_seconds();
  const auto number = [](std::uint64_t value, std::size_t size = 7) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
    return bytes;
  };
  const auto totals = [&](std::uint64_t version, std::uint64_t open) {
    std::string bytes = number(version, 1) + number(open, 2) + number(0, 2);
    for (const std::uint64_t value : {3U, 9U, 9U, 1U, 5U, 0U, 0U}) bytes += number(value);
    return bytes;
  };
  const std::string id(16, '\1');
  const std::string numbers = number(3) + number(5) + number(0) + number(9);
  const std::string receipt = "o" + id + numbers + number(1);
  const std::uint64_t too_large = std::uint64_t{1} << 53;
  const struct {
    std::string bytes;
    bool is_sound;
  } rows[] = {
      {totals(1, 1), true},
      {totals(1, 1) + receipt, true},
      {totals(1, 1) + receipt + receipt, false},
      {totals(1, 1) + receipt + "o", false},
      {totals(1, 1) + "x" + receipt.substr(1), false},
      {totals(1, 1) + "o" + id + numbers + number(too_large), false},
      {totals(1, 1) + "i" + id + number(9), false},
      {totals(1, 1).substr(1), false},
      {totals(2, 1), false},
      {totals(1, 1'025), false},
      {"", false},
  };
  for (const auto& row : rows) {
    Replay replay;
    replay.begin(now, 1);
    EXPECT_EQ(replay.place_receipts(0, bucket, row.bytes), row.is_sound) << row.bytes;
  }
}

TEST(LogExcerpt, IsSoundWhereCostsAndTimesAscend) {
  using Point = LogExcerpt::Point;
  const struct {
    std::int64_t used, newest;
    std::vector<Point> points;
    bool is_sound;
  } rows[] = {
      {3, 9, {}, true},
      {3, 9, {{1, 5}, {2, 5}}, true},
      {3, 9, {{1, 5}, {3, 9}}, true},
      {0, 9, {}, false},
      {3, -1, {}, false},
      {3, 9, {{2, 5}, {2, 6}}, false},
      {3, 9, {{1, 6}, {2, 5}}, false},
      {3, 9, {{4, 9}}, false},
      {3, 9, {{3, 8}}, false},
      {3, 9, {{2, 10}}, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ((LogExcerpt{row.used, row.newest, row.points}.is_sound()), row.is_sound) << row.points.size();
  }
}

TEST(ScriptReply, HasTheSizesThatWereAskedFor) {
  const ScriptReplySizes sizes{.plain_keys = 1, .keys = 2, .evaluations = 1};
  const struct {
    std::string_view bytes;
    bool is_reply;
  } rows[] = {
      {"*3\r\n:5\r\n*2\r\n$1\r\n0\r\n*2\r\n:3\r\n:4\r\n*1\r\n:1\r\n", true},
      {"*3\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n", true},
      {"*3\r\n:-5\r\n*2\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n", false},
      {"*3\r\n:5\r\n*1\r\n$-1\r\n*1\r\n:1\r\n", false},
      {"*3\r\n:5\r\n*2\r\n$-1\r\n$1\r\n0\r\n*1\r\n:1\r\n", false},
      {"*3\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n*2\r\n:1\r\n:1\r\n", false},
      {"*2\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n", false},
      {"*6\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n*0\r\n*0\r\n*2\r\n:2\r\n$1\r\nx\r\n", true},
      {"*6\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n*1\r\n:1\r\n*0\r\n*0\r\n", false},
      {"*6\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n*0\r\n*0\r\n*2\r\n:3\r\n$1\r\nx\r\n", false},
      {"*6\r\n:5\r\n*2\r\n$-1\r\n$-1\r\n*1\r\n:1\r\n*0\r\n*0\r\n*1\r\n:1\r\n", false},
      {"-ERR no\r\n", false},
  };
  for (const auto& row : rows) {
    const ParsedReply reply{std::string(row.bytes)};
    EXPECT_EQ(parse_script_reply(reply.get(), sizes).has_value(), row.is_reply) << row.bytes;
  }
}

}  // namespace
}  // namespace weir::store::redis
