// CL.THROTTLE through the frontend, with redis-cell's table of replies.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/talk.h"

namespace weir::frontend {
namespace {

using Words = std::vector<std::string>;

std::string numbers(const std::vector<int>& values) {
  std::string text = '*' + std::to_string(values.size()) + "\r\n";
  for (const int value : values) text += ':' + std::to_string(value) + "\r\n";
  return text;
}

TEST(RespThrottle, AnswersAsRedisCellDoes) {
  struct Row {
    Duration later;  // time since the previous row
    std::string quantity;
    std::vector<int> reply;  // limited, limit, remaining, retry_after, reset_after
  };
  const std::vector<Row> rows{
      {0s, "6", {1, 5, 5, -1, 0}},  // can never fit
      {0s, "1", {0, 5, 4, -1, 1}},       {0s, "1", {0, 5, 3, -1, 2}}, {0s, "1", {0, 5, 2, -1, 3}},
      {0s, "1", {0, 5, 1, -1, 4}},       {0s, "1", {0, 5, 0, -1, 5}}, {0s, "1", {1, 5, 0, 1, 5}},
      {0s, "0", {0, 5, 0, -1, 5}},        // peeks
      {999'999us, "1", {1, 5, 0, 1, 5}},  // one microsecond is rounded up to a second
      {1us, "1", {0, 5, 0, -1, 5}},      {2s, "3", {1, 5, 2, 1, 3}},  {0s, "2", {0, 5, 0, -1, 5}},
      {100s, "5", {0, 5, 0, -1, 5}},
  };
  RespServer server;
  Talk talk(server);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    server.clock.advance(rows[i].later);
    EXPECT_EQ(talk.ask({"CL.THROTTLE", "k", "4", "1", "1", rows[i].quantity}), numbers(rows[i].reply)) << "row " << i;
  }
}

TEST(RespThrottle, ErrorsAreThoseOfRedisCell) {
  struct Row {
    Words command;
    std::string error;
  };
  const std::string usage = "Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]";
  const std::vector<Row> rows{
      {{"CL.THROTTLE"}, usage},
      {{"CL.THROTTLE", "k"}, usage},
      {{"cl.throttle", "k", "1", "2", "3", "4", "5"}, usage},
      {{"CL.THROTTLE", "k", "x", "2", "3"}, "Couldn't parse as integer: x"},
      {{"CL.THROTTLE", "k", "1", "0", "3"}, "Zero rates are not supported"},
      {{"CL.THROTTLE", "k", "1", "2", "3", "-1"}, "Negative numbers are not supported: -1"},
  };
  RespServer server;
  for (const Row& row : rows) {
    EXPECT_EQ(Talk(server).ask(row.command), "-Cell error: Store error: " + row.error + "\r\n");
  }
  const std::string beyond = Talk(server).ask({"CL.THROTTLE", "k", "9223372036854775807", "1000", "1"});
  EXPECT_TRUE(beyond.starts_with("-Cell error: Store error: ")) << beyond;
  EXPECT_NE(beyond.find("burst"), std::string::npos) << beyond;
}

TEST(RespThrottle, KeysAreSharedByConnectionsAndApartFromEachOther) {
  RespServer server;
  const Words one{"CL.THROTTLE", "one", "0", "1", "60"};
  EXPECT_EQ(Talk(server).ask(one), numbers({0, 1, 0, -1, 60}));
  EXPECT_EQ(Talk(server).ask(one), numbers({1, 1, 0, 60, 60}));
  EXPECT_EQ(Talk(server).ask({"CL.THROTTLE", "two", "0", "1", "60"}), numbers({0, 1, 0, -1, 60}));
}

TEST(RespThrottle, PipelineSeesItsOwnCharges) {
  RespServer server;
  std::string asked;
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    asked += i % 2 == 0 ? "CL.THROTTLE same 199 1 1\r\n" : "cl.Throttle \"same\" 199 1 1 1\r\n";
    expected += i < 200 ? numbers({0, 200, 199 - i, -1, i + 1}) : numbers({1, 200, 0, 1, 200});
  }
  EXPECT_EQ(Talk(server).send(asked), expected);
  EXPECT_EQ(server.frontend.throttle_counts().allowed.value(), 200U);
  EXPECT_EQ(server.frontend.throttle_counts().limited.value(), 100U);
}

// More limits than the cache holds, each twice, so that one replaces another in the middle of a batch.
TEST(RespThrottle, EachCommandIsDecidedByItsOwnRule) {
  RespServer server;
  std::string asked;
  std::string expected;
  for (int i = 0; i < 2'000; ++i) {
    const int burst = i % 1'000;
    wire::resp::append_command(asked, {"CL.THROTTLE", "k" + std::to_string(i), std::to_string(burst), "1", "1"});
    expected += numbers({0, burst + 1, burst, -1, 1});
  }
  EXPECT_EQ(Talk(server).send(asked), expected);
}

}  // namespace
}  // namespace weir::frontend
