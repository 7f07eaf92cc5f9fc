// A connection allocates nothing for commands like those that it has served before.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/allocations.h"
#include "tests/frontend_resp/talk.h"

namespace weir::frontend {
namespace {

TEST(RespAllocation, WarmConnectionAllocatesNothingPerCommand) {
  std::string pipeline;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "a key that no small string holds, number " + std::to_string(i);
    wire::resp::append_command(pipeline, {"CL.THROTTLE", key, "15", "30", std::to_string(60 + i % 7)});
    wire::resp::append_command(pipeline, {"PING"});
    wire::resp::append_command(pipeline, {"WEIR.CHECK", "api", "a user that no small string holds", "COST", "1"});
    pipeline += "CL.THROTTLE \"a key that no small string holds, and quoted\" 15 30 60\r\n";
  }
  RespServer server;
  Talk talk(server);
  std::uint64_t made = 0;
  for (int round = 0; round < 2; ++round) {
    net::Output out(std::size_t{1} << 20);
    out.bytes().reserve(std::size_t{1} << 20);
    const std::uint64_t before = allocations.load();
    const std::size_t consumed = talk.offer(pipeline, out);
    made = allocations.load() - before;
    EXPECT_EQ(consumed, pipeline.size());
  }
  EXPECT_EQ(made, 0U);
}

}  // namespace
}  // namespace weir::frontend
