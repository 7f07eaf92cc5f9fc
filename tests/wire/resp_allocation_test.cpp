// After its largest command and reply, a connection allocates nothing.
#include <gtest/gtest.h>

#include <string>

#include "tests/allocations.h"
#include "wire/resp/command_parser.h"
#include "wire/resp/reply_parser.h"
#include "wire/resp/throttle.h"
#include "wire/resp/writer.h"

namespace weir::wire::resp {
namespace {

TEST(RespAllocation, WarmConnectionAllocatesNothingInEitherDirection) {
  const std::string fixed = "ECHO \"a quoted argument that no small string holds\" 'x'\r\n\r\n*0\r\n";
  CommandParser server;
  ReplyParser client;
  std::string commands;
  std::string replies;
  const auto converse = [&] {
    commands = fixed;
    append_command(commands, {"CL.THROTTLE", "a key that no small string holds", "15", "30", "60"});
    replies.clear();
    ReplyWriter writer(replies, Protocol::resp3);
    int answered = 0;
    for (std::size_t arrived = 0, begin = 0; arrived < commands.size(); ++arrived) {
      const auto step = server.next(std::string_view(commands).substr(begin, arrived + 1 - begin));
      begin += step.consumed;
      if (step.status != CommandParser::Status::command) continue;
      writer.bulk(server.arguments().back());
      if (server.arguments().size() != 5) continue;
      const auto throttle = parse_throttle(server.arguments());
      append_throttle_reply(replies, throttle_reply({.admitted = true, .limit = throttle->numbers.burst}));
    }
    for (std::string_view unread = replies; !unread.empty(); ++answered) {
      const auto step = client.next(unread);
      if (step.status != ReplyParser::Status::reply) break;
      unread.remove_prefix(step.consumed);
    }
    return answered;
  };
  ASSERT_EQ(converse(), 3);
  const std::uint64_t before = allocations.load();
  const int answered = converse();
  EXPECT_EQ(allocations.load() - before, 0U);
  EXPECT_EQ(answered, 3);
}

}  // namespace
}  // namespace weir::wire::resp
