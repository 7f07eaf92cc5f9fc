// Valid and invalid commands: each row at once and byte by byte.
#include "wire/resp/command_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/wire/resp_stream.h"

namespace weir::wire::resp {
namespace {

using Commands = std::vector<std::vector<std::string>>;
using namespace std::string_literals;

struct CommandRow {
  std::string bytes;
  Conversation expected;
};

void expect(const CommandRow& row, CommandLimits limits = {}, Peer peer = Peer::authenticated) {
  SCOPED_TRACE(::testing::PrintToString(row.bytes.substr(0, 80)));
  for (const Conversation& heard : {read_commands(row.bytes, whole, CommandParser(limits, peer)),
                                    read_commands(row.bytes, byte_by_byte, CommandParser(limits, peer))}) {
    EXPECT_EQ(heard.commands, row.expected.commands);
    EXPECT_EQ(heard.status, row.expected.status);
    EXPECT_EQ(heard.error, row.expected.error);
  }
}

Conversation refused_command(const std::string& problem, Commands before = {}) {
  return {std::move(before), CommandParser::Status::protocol_error, "ERR Protocol error: " + problem};
}

TEST(RespCommandParser, ReadsArraysOfBulkStringsAndInlineCommandsInOnePipeline) {
  expect({"*1\r\n$4\r\nPING\r\n", {{{"PING"}}}});
  expect({"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$13\r\na\r\nb\0$1\r\n*1\r\n\r\n"s, {{{"SET", "", "a\r\nb\0$1\r\n*1\r\n"s}}}});
  expect({"PING\r\n*2\r\n$4\r\nECHO\r\n$1\r\nx\r\nPING\n", {{{"PING"}, {"ECHO", "x"}, {"PING"}}}});
  const std::string long_argument(300, 'v');
  expect({"*2\r\n$1\r\na\r\n$300\r\n" + long_argument + "\r\n", {{{"a", long_argument}}}});
}

TEST(RespCommandParser, SkipsEmptyLinesAndEmptyArrays) {
  expect({"\r\n\n \t\r\n*0\r\n*-1\r\n*-77\r\nPING\r\n", {{{"PING"}}}});
  CommandParser parser;
  EXPECT_EQ(parser.next("\r\n*0\r\n*2\r\n$4"), (CommandParser::Step{CommandParser::Status::need_more, 6}));
  EXPECT_EQ(parser.next("*2\r\n$4\r\nECHO\r\n$1\r\na\r\n+"), (CommandParser::Step{CommandParser::Status::command, 21}));
}

TEST(RespCommandParser, WaitsForTheRestOfACommand) {
  for (const std::string bytes :
       {"P", "PING", "PING\r", "*", "*1", "*1\r", "*1\r\n", "*1\r\n$", "*1\r\n$4", "*1\r\n$4\r\n", "*1\r\n$4\r\nPIN",
        "*1\r\n$4\r\nPING", "*1\r\n$4\r\nPING\r", "*2\r\n$4\r\nECHO\r\n"}) {
    expect({bytes, {}});
  }
}

TEST(RespCommandParser, SplitsInlineCommandsByTheQuotingRulesOfRedis) {
  expect({"  set\tk  v \r\n", {{{"set", "k", "v"}}}});
  expect({R"(set k "a b" 'c d' "")"
          "\n",
          {{{"set", "k", "a b", "c d", ""}}}});
  expect({R"("\n\r\t\b\a\x41\xfF\x4\q\\\"" '\n\'')"
          "\n",
          {{{"\n\r\t\b\aA\xffx4q\\\"", "\\n'"}}}});
  expect({"a\"b c\" d'e'\n", {{{"ab c", "de"}}}});
  expect({"a\vb\fc \v\fd\n", {{{"a\vb\fc", "d"}}}});
  expect({"a\rb\r\r\n", {{{"a", "b"}}}});
  expect({"\"a\"\v'b'\f\n", {{{"a", "b"}}}});
  expect({"a\0b\n"s, {{{"a\0b"s}}}});
}

TEST(RespCommandParser, RefusesQuotesThatDoNotCloseOrDoNotEndTheWord) {
  for (const std::string line : {"\"", "'", "a \"b", "a 'b", "\"a\"b", "'a'b", "\"a\"\"b\"", "'a\\'", "\"a\\\"", "\"\\",
                                 "\"a\\x\\\"", "a\"b\"c"}) {
    expect({"PING\r\n" + line + "\r\nPING\r\n", refused_command("unbalanced quotes in request", {{"PING"}})});
  }
}

TEST(RespCommandParser, RefusesInvalidCounts) {
  for (const std::string count : {"", "a", "1a", " 1", "1 ", "+1", "01", "-0", "-", "1025", "2147483648",
                                  "9223372036854775808", "99999999999999999999999", "1\n", "\0"}) {
    expect({"PING\r\n*" + count + "\r\n$4\r\nPING\r\n", refused_command("invalid multibulk length", {{"PING"}})});
  }
  for (const std::string length : {"", "a", "4a", " 4", "4 ", "+4", "04", "-0", "-", "-1", "65537",
                                   "9223372036854775808", "99999999999999999999999", "4\n"}) {
    expect({"PING\r\n*1\r\n$" + length + "\r\nPING\r\n", refused_command("invalid bulk length", {{"PING"}})});
  }
}

TEST(RespCommandParser, RefusesAnythingButBulkStringsInArrays) {
  expect({"*1\r\n:1\r\n", refused_command("expected '$', got ':'")});
  expect({"*2\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n", refused_command("expected '$', got '*'")});
  expect({"*1\r\n\r\n", refused_command("expected '$', got '\r'")});
  expect({"*1\r\n\0"s, refused_command("expected '$', got '\0'"s)});
}

TEST(RespCommandParser, RefusesLinesAndArgumentsThatDoNotEndInCrLf) {
  expect({"*1\rX$4\r\nPING\r\n", refused_command("invalid multibulk length")});
  expect({"*1\r\n$4\rXPING\r\n", refused_command("invalid bulk length")});
  expect({"*2\r\n$4\r\nECHO\r\n$2\r\nabc\r\nPING\r\n", refused_command("invalid bulk length")});
  expect({"*2\r\n$4\r\nECHO\r\n$4\r\nabc\r\nPING\r\n", refused_command("invalid bulk length")});
}

TEST(RespCommandParser, EnforcesItsLimits) {
  const CommandLimits limits{.arguments = 2, .bulk_length = 3, .inline_length = 10, .command_length = 27};
  expect({"*2\r\n$3\r\nabc\r\n$0\r\n\r\n", {{{"abc", ""}}}}, limits);
  expect({"*2\r\n$3\r\nabc\r\n$3\r\nabc\r\n", {{{"abc", "abc"}}}}, {2, 3, 10, 22});
  expect({"*2\r\n$3\r\nabc\r\n$3\r\nabc\r\n", refused_command("invalid bulk length")}, {2, 3, 10, 21});
  expect({"*3\r\n", refused_command("invalid multibulk length")}, limits);
  expect({"*1\r\n$4\r\n", refused_command("invalid bulk length")}, limits);
  expect({"12345 7890\n", {{{"12345", "7890"}}}}, limits);
  expect({"12345 78901", refused_command("too big inline request")}, limits);
  expect({"12345 78901\n", refused_command("too big inline request")}, limits);
  expect({"1 2 3\n", refused_command("too big inline request")}, limits);
  expect({"*1234567890", refused_command("too big mbulk count string")}, limits);
  expect({"*1234567890\r\n", refused_command("too big mbulk count string")}, limits);
  expect({"*123456789\r\n", refused_command("invalid multibulk length")}, limits);
  expect({"*1\r\n$1234567890", refused_command("too big bulk count string")}, limits);
  expect({"*1\r\n$123456789\r\n", refused_command("invalid bulk length")}, limits);
}

TEST(RespCommandParser, EnforcesLowerLimitsBeforeAuthentication) {
  const auto stranger = [](const CommandRow& row) { expect(row, {}, Peer::unauthenticated); };
  const std::string argument(unauthenticated_bulk_length, 'a');
  stranger({"*1\r\n$16384\r\n" + argument + "\r\n", {{{argument}}}});
  stranger({"*1\r\n$16385\r\n", refused_command("unauthenticated bulk length")});
  stranger({"*1\r\n$65537\r\n", refused_command("invalid bulk length")});
  stranger({"*10\r\n", {}});
  stranger({"*11\r\n", refused_command("unauthenticated multibulk length")});
  stranger({"*1025\r\n", refused_command("invalid multibulk length")});
}

TEST(RespCommandParser, AuthenticationAppliesFromTheNextCommand) {
  CommandParser parser({}, Peer::unauthenticated);
  const std::string_view pipeline = "AUTH secret\r\n*11\r\n";
  const auto step = parser.next(pipeline);
  EXPECT_EQ(step.status, CommandParser::Status::command);
  parser.set_peer(Peer::authenticated);
  EXPECT_EQ(parser.next(pipeline.substr(step.consumed)).status, CommandParser::Status::need_more);
}

TEST(RespCommandParser, DetectsHttpRequestsOfBrowsers) {
  expect({"PING\r\nPOST / HTTP/1.1\r\nPING\r\n", {{{"PING"}}, CommandParser::Status::cross_protocol}});
  expect({"GET / HTTP/1.1\r\nHost: localhost:6390\r\n",
          {{{"GET", "/", "HTTP/1.1"}}, CommandParser::Status::cross_protocol}});
  expect({"*2\r\n$4\r\npOsT\r\n$1\r\n/\r\n", {{}, CommandParser::Status::cross_protocol}});
  expect({"*1\r\n$5\r\nhost:\r\n", {{}, CommandParser::Status::cross_protocol}});
  expect({"POSTS\r\nHOST\r\nECHO Host:\r\n", {{{"POSTS"}, {"HOST"}, {"ECHO", "Host:"}}}});
}

TEST(RespCommandParser, RefusalIsFinal) {
  CommandParser parser;
  EXPECT_EQ(parser.next("*x\r\nPING\r\n"), (CommandParser::Step{CommandParser::Status::protocol_error, 0}));
  EXPECT_EQ(parser.next("PING\r\n"), (CommandParser::Step{CommandParser::Status::protocol_error, 0}));
  CommandParser other;
  EXPECT_EQ(other.next("POST /\r\n"), (CommandParser::Step{CommandParser::Status::cross_protocol, 8}));
  EXPECT_EQ(other.next("PING\r\n"), (CommandParser::Step{CommandParser::Status::cross_protocol, 0}));
}

}  // namespace
}  // namespace weir::wire::resp
