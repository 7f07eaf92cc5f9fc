#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/allocations.h"
#include "tests/wire_http2/client.h"
#include "wire/http2/server.h"

namespace weir::wire::http2 {
namespace {

TEST(Http2Server, SteadyStateAllocatesNothing) {
  Server server;
  Client client;
  std::string out;
  std::uint64_t counted = 1;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 50; ++i) client.ask(post("/path/of/some/length"), std::string(100, 'x'));
    const std::string bytes = client.bytes();
    out.clear();
    const std::uint64_t before = ::allocations;
    ASSERT_TRUE(server.receive(bytes));
    for (Exchange* exchange : server.updated()) {
      server.begin(*exchange, std::array{Header{":status", "200"}});
      server.reply(*exchange).append(200, 'y');
      server.end(*exchange, std::array{Header{"grpc-status", "0"}});
    }
    server.write(out);
    counted = ::allocations - before;
    client.hear(out);
  }
  EXPECT_EQ(counted, 0U);
}

}  // namespace
}  // namespace weir::wire::http2
