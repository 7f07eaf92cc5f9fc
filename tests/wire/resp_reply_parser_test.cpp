// Valid and invalid replies: each row at once and byte by byte.
#include "wire/resp/reply_parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/wire/resp_stream.h"

namespace weir::wire::resp {
namespace {

void expect(const std::string& bytes, const Answers& expected, ReplyLimits limits = {}) {
  SCOPED_TRACE(::testing::PrintToString(bytes.substr(0, 80)));
  for (const Answers& answers : {read_replies(bytes, whole, limits), read_replies(bytes, byte_by_byte, limits)}) {
    EXPECT_EQ(answers.replies, expected.replies);
    EXPECT_EQ(answers.status, expected.status);
    EXPECT_EQ(answers.problem, expected.problem);
  }
}

Answers refused_reply(const std::string& problem, std::vector<std::string> before = {}) {
  return {std::move(before), ReplyParser::Status::refused, problem};
}

TEST(RespReplyParser, ReadsEveryTypeOfValue) {
  expect(
      "+OK\r\n-ERR no\r\n:12\r\n:-1\r\n$2\r\n\r\n\r\n$0\r\n\r\n",
      {{R"(simple "OK")", R"(error "ERR no")", R"(integer "12")", R"(integer "-1")", "bulk \"\r\n\"", R"(bulk "")"}});
  expect("$-1\r\n*-1\r\n_\r\n", {{"null", "null", "null"}});
  expect("#t\r\n#f\r\n,1.5\r\n,-inf\r\n(123456789012345678901234567890\r\n=5\r\ntxt:a\r\n!6\r\nERR\r\na\r\n",
         {{R"(boolean "t")", R"(boolean "f")", R"(real "1.5")", R"(real "-inf")",
           R"(big_number "123456789012345678901234567890")", R"(verbatim "a")", "error \"ERR\r\na\""}});
  expect("+\r\n-\r\n", {{R"(simple "")", R"(error "")"}});
}

TEST(RespReplyParser, ParsesNestedAggregates) {
  expect("*0\r\n*2\r\n*1\r\n:1\r\n*0\r\n%1\r\n+a\r\n*2\r\n~0\r\n_\r\n>1\r\n+m\r\n",
         {{"array[]", R"(array[array[integer "1"], array[]])", R"(map[simple "a", array[set[], null]])",
           R"(push[simple "m"])"}});
}

TEST(RespReplyParser, ElementsCanBeVisitedAndIndexed) {
  ReplyParser parser;
  const std::string_view bytes = "*4\r\n:1\r\n*2\r\n:2\r\n:3\r\n#t\r\n,2.5\r\n";
  ASSERT_EQ(parser.next(bytes), (ReplyParser::Step{ReplyParser::Status::reply, bytes.size()}));
  const Reply reply = parser.reply();
  ASSERT_EQ(reply.size(), 4U);
  EXPECT_EQ(reply[0].integer(), 1);
  EXPECT_EQ(reply[1][1].integer(), 3);
  EXPECT_EQ(reply[2].integer(), 1);
  EXPECT_EQ(reply[3].real(), 2.5);
  EXPECT_EQ(reply[3].integer(), 0);
  EXPECT_EQ(reply[0].real(), 0.0);
  EXPECT_EQ(reply[1].text(), "");
}

TEST(RespReplyParser, ParsesTheLimitsOfNumbers) {
  ReplyParser parser;
  const auto read = [&](std::string_view bytes) {
    EXPECT_EQ(parser.next(bytes).status, ReplyParser::Status::reply) << bytes;
    return parser.reply();
  };
  EXPECT_EQ(read(":9223372036854775807\r\n").integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(read(":-9223372036854775808\r\n").integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read(",1e308\r\n").real(), 1e308);
  EXPECT_EQ(read(",inf\r\n").real(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read(",-nan\r\n").real()));
}

TEST(RespReplyParser, WaitsForTheRestOfAReply) {
  for (const std::string bytes :
       {"+", "+OK", "+OK\r", "$2\r\nab", "$2\r\nab\r", "*2\r\n:1\r\n", "*1\r\n", "%1\r\n+a\r\n", "*1\r\n*1\r\n"}) {
    expect(bytes, {});
  }
}

TEST(RespReplyParser, RefusesMalformedReplies) {
  struct Row {
    std::string bytes;
    std::string problem;
  };
  for (const Row& row : {
           Row{"HTTP/1.1 400 Bad Request\r\n", "a value of unknown type"},
           Row{"\r\n", "a value of unknown type"},
           Row{"|1\r\n+a\r\n+b\r\n", "a value of unknown type"},
           Row{"+OK\rX", "a line that ends in CR without LF"},
           Row{":\r\n", "an invalid integer"},
           Row{":1.5\r\n", "an invalid integer"},
           Row{":9223372036854775808\r\n", "an invalid integer"},
           Row{"_x\r\n", "a null with a value"},
           Row{"#true\r\n", "an invalid boolean"},
           Row{",\r\n", "an invalid double"},
           Row{",1,5\r\n", "an invalid double"},
           Row{",infinity\r\n", "an invalid double"},
           Row{"(12a\r\n", "an invalid big number"},
           Row{"$-2\r\n", "a string of invalid length"},
           Row{"$?\r\n", "a string of invalid length"},
           Row{"=-1\r\n", "a string of invalid length"},
           Row{"$2\r\nabc\r\n", "a string that does not match its length"},
           Row{"=3\r\ntxt\r\n", "a verbatim string without a format"},
           Row{"*-2\r\n", "an aggregate of invalid size"},
           Row{"%-1\r\n", "an aggregate of invalid size"},
           Row{"*?\r\n", "an aggregate of invalid size"},
           Row{"*01\r\n", "an aggregate of invalid size"},
       }) {
    expect("+OK\r\n" + row.bytes, refused_reply(row.problem, {R"(simple "OK")"}));
    expect("*2\r\n+OK\r\n" + row.bytes, refused_reply(row.problem));
  }
}

TEST(RespReplyParser, EnforcesItsLimits) {
  const ReplyLimits limits{.depth = 2, .elements = 4, .length = 30};
  expect("*1\r\n*1\r\n:1\r\n", {{R"(array[array[integer "1"]])"}}, limits);
  expect("*1\r\n*1\r\n*0\r\n", {{"array[array[array[]]]"}}, limits);
  expect("*1\r\n*1\r\n*1\r\n", refused_reply("aggregates nested too deeply"), limits);
  expect("*3\r\n:1\r\n:2\r\n:3\r\n", {{R"(array[integer "1", integer "2", integer "3"])"}}, limits);
  expect("*4\r\n", refused_reply("more elements than allowed"), limits);
  expect("%2\r\n", refused_reply("more elements than allowed"), limits);
  expect("*2\r\n*2\r\n", refused_reply("more elements than allowed"), limits);
  expect("*9223372036854775807\r\n", refused_reply("more elements than allowed"));
  expect("%9223372036854775807\r\n", refused_reply("more elements than allowed"));
  expect("$23\r\n12345678901234567890123\r\n", {{R"(bulk "12345678901234567890123")"}}, limits);
  expect("$24\r\n", refused_reply("a reply that exceeds the length limit"), limits);
  expect("$9223372036854775807\r\n", refused_reply("a reply that exceeds the length limit"));
  expect("+" + std::string(27, 'a') + "\r\n", {{"simple \"" + std::string(27, 'a') + '"'}}, limits);
  expect("+" + std::string(28, 'a'), refused_reply("a reply that exceeds the length limit"), limits);
}

TEST(RespReplyParser, RefusalIsFinal) {
  ReplyParser parser;
  EXPECT_EQ(parser.next("?\r\n"), (ReplyParser::Step{ReplyParser::Status::refused, 0}));
  EXPECT_EQ(parser.next("+OK\r\n"), (ReplyParser::Step{ReplyParser::Status::refused, 0}));
}

}  // namespace
}  // namespace weir::wire::resp
