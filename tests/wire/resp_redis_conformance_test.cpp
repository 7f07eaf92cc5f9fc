// A real redis-server and a server built on this codec reply to the same bytes with the same bytes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/redis_process.h"
#include "tests/wire/resp_stream.h"
#include "wire/resp/writer.h"

namespace weir::wire::resp {
namespace {

using Command = std::vector<std::string>;
using namespace std::string_literals;

constexpr CommandLimits limits_of_redis{
    .arguments = 2147483647, .bulk_length = 512U << 20, .command_length = std::size_t{1} << 40};

RedisProcess& redis() {
  static RedisProcess server({"--enable-debug-command", "yes"});
  return server;
}

// EVAL 'return ARGV' 0 ... returns all arguments as parsed.
bool returns_its_arguments(const Command& command) {
  return command.size() >= 3 && command[0] == "EVAL" && command[1] == "return ARGV" && command[2] == "0";
}

std::string unknown_command(const Command& command) {
  std::string quoted;
  for (std::size_t i = 1; i < command.size() && quoted.size() < 128; ++i) {
    quoted += '\'' + command[i].substr(0, 128 - quoted.size()) + "' ";
  }
  return "ERR unknown command '" + command[0].substr(0, 128) + "', with args beginning with: " + quoted;
}

std::string our_answer(std::string_view bytes, Peer peer = Peer::authenticated) {
  const Conversation heard = read_commands(bytes, whole, CommandParser(limits_of_redis, peer));
  std::string answer;
  ReplyWriter writer(answer);
  for (const Command& command : heard.commands) {
    if (command == Command{"PING"}) {
      writer.simple_string("PONG");
    } else if (returns_its_arguments(command)) {
      writer.array(command.size() - 3);
      for (std::size_t i = 3; i < command.size(); ++i) writer.bulk(command[i]);
    } else {
      writer.error(unknown_command(command));
    }
  }
  if (heard.status == CommandParser::Status::protocol_error) writer.error(heard.error);
  return answer;
}

TEST(RespAgainstRedis, OddBytesGetTheSameAnswer) {
  const std::string ping = "*1\r\n$4\r\nPING\r\n";
  std::vector<std::string> rows{"PING\n",
                                "\r\n\n \r\n*0\r\n*-1\r\n*-99\r\nPING\r\n",
                                ping + ping + "PING\r\n" + ping,
                                "\xff\xfe\r\n",
                                "*1\r\n\r\n",
                                "*1\r\n\n\r\n",
                                "*1\r\n:1\r\n",
                                "*1\r\n\xff\r\n",
                                "*2\r\n$4\r\nPING\r\n+a\r\n",
                                "*1\r\n*1\r\n" + ping,
                                "POST / HTTP/1.1\r\n" + ping,
                                "hOST: here\r\n" + ping,
                                "*1\r\n$5\r\nHost:\r\n" + ping,
                                "HOST\r\nPOSTS\r\n",
                                std::string(65536, 'x'),
                                std::string(65536, 'x') + '\n',
                                std::string(65537, 'x'),
                                '*' + std::string(65536, '1'),
                                '*' + std::string(65535, '1'),
                                "*1\r\n$" + std::string(65536, '1'),
                                "*1\r\n$" + std::string(65535, '1'),
                                "*2147483647\r\n",
                                "*1\r\n$536870912\r\n",
                                "*1\r\n$0\r\n\r\n",
                                "\"\"\r\n"};
  for (const std::string quoted :
       {"\"", "'", "a \"b", "\"a\"b", "'a'b", "\"a\"\"b\"", "'a\\'", "\"a\\\"", "\"\\", "a\"b\"c", "a\"b c\" d'e'",
        "\"\\n\\r\\t\\b\\a\\x41\\xfF\\x4\\q\\\\\\\"\"", "a\vb \v\fc", "a\rb\r", "\"a\"\v'b'\f", "'\\n\\''"}) {
    rows.push_back("EVAL \"return ARGV\" 0 " + quoted + "\r\n" + ping);
  }
  for (const std::string count : {"", "a", "1a", " 1", "1 ", "+1", "01", "-0", "-", "2147483648", "536870913", "-1",
                                  "9223372036854775807", "9223372036854775808", "99999999999999999999999", "1\n"}) {
    rows.push_back(ping + '*' + count + "\r\n" + ping);
    rows.push_back(ping + "*1\r\n$" + count + "\r\n" + ping);
  }
  for (const std::string& row : rows) {
    EXPECT_EQ(our_answer(row), redis().ask_bytes(row)) << ::testing::PrintToString(row.substr(0, 60));
  }
}

TEST(RespAgainstRedis, UnauthenticatedLimitsAreTheSame) {
  const RedisProcess guarded({"--requirepass", "secret"});
  for (const std::string row :
       {"*11\r\n", "*1\r\n$16385\r\n", "*10\r\n", "*1\r\n$16384\r\n", "*2147483648\r\n", "*1\r\n$536870913\r\n"}) {
    EXPECT_EQ(our_answer(row, Peer::unauthenticated), guarded.ask_bytes(row)) << row;
  }
}

// Intended differences: see command_parser.h.
TEST(RespAgainstRedis, DiffersWhereRedisLosesTrack) {
  EXPECT_EQ(redis().ask_bytes("*1\rX$4\rXPINGXX"), "+PONG\r\n");
  EXPECT_EQ(our_answer("*1\rX$4\rXPINGXX"), "-ERR Protocol error: invalid multibulk length\r\n");
  EXPECT_EQ(redis().ask_bytes("*1\r\n$4\r\nPINGXXPING\r\n"), "+PONG\r\n+PONG\r\n");
  EXPECT_EQ(our_answer("*1\r\n$4\r\nPINGXXPING\r\n"), "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_EQ(redis().ask_bytes("a\0b\r\nPING\r\n"s), "");
  EXPECT_EQ(our_answer("PING\0\r\nPING\r\n"s),
            "-ERR unknown command 'PING\0', with args beginning with: \r\n+PONG\r\n"s);
}

RC_GTEST_PROP(RespAgainstRedis, AnyInlineCommandIsSplitTheSame, ()) {
  const auto letter = rc::gen::elementOf("ab12x0n\\\\\\\"\"\"'''   \t\r\v\f\xff"s);
  std::string bytes;
  for (const std::string& tail :
       *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(letter))) {
    bytes += "EVAL 'return ARGV' 0 " + tail + "\r\n";
  }
  RC_ASSERT(our_answer(bytes) == redis().ask_bytes(bytes));
}

RC_GTEST_PROP(RespAgainstRedis, AnyPipelineGetsTheSameAnswer, ()) {
  const auto piece = rc::gen::weightedElement<std::string>(
      {{8, "*1\r\n$4\r\nPING\r\n"},
       {4, "*4\r\n$4\r\nEVAL\r\n$11\r\nreturn ARGV\r\n$1\r\n0\r\n$3\r\na\r\n\r\n"},
       {3, "PING\r\n"},
       {1, "*2\r\n"},
       {1, "$1\r\n"},
       {1, "*0\r\n"},
       {1, "a 'b\r\n"},
       {1, "foo bar\r\n"},
       {1, ":1\r\n"},
       {1, "\r\n"},
       {1, "*x\r\n"}});
  std::string bytes;
  for (const std::string& each : *rc::gen::container<std::vector<std::string>>(piece)) bytes += each;
  // After a wrong length Redis continues in the middle of an argument, which is not compared.
  RC_PRE(!our_answer(bytes).ends_with("invalid bulk length\r\n"));
  RC_ASSERT(our_answer(bytes) == redis().ask_bytes(bytes));
}

RC_GTEST_PROP(RespAgainstRedis, RedisParsesCommandsWrittenHere, (const Command& values)) {
  std::string bytes;
  CommandWriter command(bytes, values.size() + 3);
  command.argument("EVAL");
  command.argument("return ARGV");
  command.argument(0);
  for (const std::string& value : values) command.argument(value);
  ReplyParser parser;
  const std::string answer = redis().ask_bytes(bytes);
  RC_ASSERT(parser.next(answer) == (ReplyParser::Step{ReplyParser::Status::reply, answer.size()}));
  Command back;
  for (const Reply element : parser.reply()) back.emplace_back(element.text());
  RC_ASSERT(back == values);
}

TEST(RespAgainstRedis, EveryTypeOfReplyIsParsed) {
  std::string bytes;
  append_command(bytes, {"HELLO", "3"});
  std::vector<std::string> expected;
  for (const auto& [type, description] : std::vector<std::pair<std::string_view, std::string>>{
           {"string", R"(bulk "Hello World")"},
           {"integer", R"(integer "12345")"},
           {"double", R"(real "3.141")"},
           {"null", "null"},
           {"array", R"(array[integer "0", integer "1", integer "2"])"},
           {"set", R"(set[integer "0", integer "1", integer "2"])"},
           {"map", R"(map[integer "0", boolean "f", integer "1", boolean "t", integer "2", boolean "f"])"},
           {"bignum", R"(big_number "1234567999999999999999999999999999999")"},
           {"true", R"(boolean "t")"},
           {"false", R"(boolean "f")"},
           {"verbatim", "verbatim \"This is a verbatim\nstring\""},
           {"push", R"(push[bulk "server-cpu-usage", integer "42"])"}}) {
    append_command(bytes, {"DEBUG", "PROTOCOL", type});
    expected.push_back(description);
  }
  Answers answers = read_replies(redis().ask_bytes(bytes), byte_by_byte);
  ASSERT_FALSE(answers.replies.empty());
  EXPECT_TRUE(answers.replies.front().starts_with("map[bulk \"server\", bulk \"redis\"")) << answers.replies.front();
  answers.replies.erase(answers.replies.begin());
  answers.replies.resize(expected.size());
  EXPECT_EQ(answers.replies, expected);
  EXPECT_EQ(answers.problem, "");
}

TEST(RespAgainstRedis, LargestReplyFitsTheDefaultLimits) {
  RedisConnection connection(redis().socket_path());
  connection.send("COMMAND\r\nQUIT\r\n");
  std::string answer = connection.receive();
  ASSERT_TRUE(answer.ends_with("+OK\r\n"));
  answer.resize(answer.size() - 5);
  ReplyParser parser;
  ASSERT_GT(answer.size(), 65'536U);
  EXPECT_EQ(parser.next(answer), (ReplyParser::Step{ReplyParser::Status::reply, answer.size()})) << parser.problem();
  EXPECT_GT(parser.reply().size(), 200U);
}

}  // namespace
}  // namespace weir::wire::resp
