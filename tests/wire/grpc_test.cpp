#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/grpc.h"

namespace weir::wire::grpc {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using Kind = MessageStep::Kind;

TEST(GrpcMessage, StepsDescribeTheFirstMessage) {
  struct Row {
    std::string body;
    Kind kind;
    std::string message;
    std::size_t consumed;
  };
  const std::vector<Row> rows{
      {"", Kind::partial, "", 0},
      {"\0\0\0\0"s, Kind::partial, "", 0},
      {"\0\0\0\0\0"s, Kind::whole, "", 5},
      {"\0\0\0\0\3abc"s, Kind::whole, "abc", 8},
      {"\0\0\0\0\3abcdef"s, Kind::whole, "abc", 8},
      {"\0\0\0\0\3ab"s, Kind::partial, "", 0},
      {"\1\0\0\0\3abc"s, Kind::compressed, "", 0},
      {"\2\0\0\0\3abc"s, Kind::malformed, "", 0},
      {"\0\0\0\0\x0b"s, Kind::too_long, "", 0},
      {"\0\xff\xff\xff\xff"s, Kind::too_long, "", 0},
  };
  for (const Row& row : rows) {
    const MessageStep step = first_message(row.body, 10);
    EXPECT_EQ(step.kind, row.kind) << testing::PrintToString(row.body);
    EXPECT_EQ(step.message, row.message);
    EXPECT_EQ(step.consumed, row.consumed);
  }
}

TEST(GrpcMessage, AppendedMessagesRoundTrip) {
  for (const std::size_t size : {0U, 1U, 255U, 256U, 70'000U}) {
    const std::string message(size, 'm');
    std::string out = "before";
    append_message(out, [&] { out += message; });
    const MessageStep step = first_message(std::string_view(out).substr(6), size);
    EXPECT_EQ(step.kind, Kind::whole) << size;
    EXPECT_EQ(step.message, message) << size;
  }
}

TEST(GrpcTimeout, IsDigitsAndAUnit) {
  struct Row {
    std::string_view text;
    std::optional<Duration> expected;
  };
  const std::vector<Row> rows{
      {"1H", 1h},         {"2M", 2min},   {"3S", 3s},  {"20m", 20ms},
      {"5u", 5us},        {"1999n", 1us}, {"0S", 0us}, {"99999999H", 99'999'999h},
      {"999999999S", {}}, {"", {}},       {"S", {}},   {"1", {}},
      {"-1S", {}},        {"+1S", {}},    {" 1S", {}}, {"1s", {}},
      {"1.5S", {}},       {"1SS", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_timeout(row.text), row.expected) << row.text;
}

TEST(GrpcStatus, MessageIsPercentEncoded) {
  EXPECT_EQ(encode_message("plain text"), "plain text");
  EXPECT_EQ(encode_message("100%\r\n\xC3\xA9"), "100%25%0D%0A%C3%A9");
  EXPECT_EQ(encode_message("\x7f"), "%7F");
}

TEST(GrpcStatus, CodesAreNumbers) {
  EXPECT_EQ(text_of(Status::ok), "0");
  EXPECT_EQ(text_of(Status::unimplemented), "12");
  EXPECT_EQ(text_of(Status::unauthenticated), "16");
}

}  // namespace
}  // namespace weir::wire::grpc
