// A connection allocates nothing for requests like those that it has served before.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/allocations.h"
#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

constexpr std::string_view three_limits = R"(
version: 1
identity: { trusted_proxies: [127.0.0.0/8] }
limits:
  - name: by-user
    routes: [/api/**]
    consumer_key: user
    algorithm: token_bucket
    rate: 100000/min
  - name: by-ip
    consumer_key: ip
    algorithm: sliding_window_counter
    rate: 100000/min
  - name: everyone
    consumer_key: global
    algorithm: gcra
    rate: 1/h
    burst: 100
)";

TEST(HttpAllocation, WarmConnectionAllocatesNothingPerRequest) {
  std::string pipeline;
  for (int i = 0; i < 100; ++i) {  // most of them are denied
    pipeline +=
        "GET /v1/auth HTTP/1.1\r\nHost: localhost:8080\r\nX-Original-Method: POST\r\nX-Original-URI: "
        "/api/v1/items/42?with=a&long=query\r\nX-Forwarded-For: 203.0.113.7\r\nX-User-Id: a user that no small "
        "string holds " +
        std::to_string(i) + "\r\n\r\n";
    pipeline += HttpFixture::check_request(
        R"({"method":"GET","path":"/api/v1/items/42","ip":"203.0.113.7","headers":{"X-Login-Name":"somebody"},"user":"another user that no small string holds"})");
  }
  HttpFixture http(three_limits);
  net::Peer peer;
  peer.address = "127.0.0.1";
  const auto session = http.frontend.open(peer, net::Link());
  std::uint64_t made = 0;
  for (int round = 0; round < 2; ++round) {
    std::vector<char> bytes(pipeline.begin(), pipeline.end());
    net::Output out(std::size_t{4} << 20);
    out.bytes().reserve(std::size_t{1} << 20);
    const std::uint64_t before = allocations.load();
    const std::size_t consumed = session->on_input(bytes, out);
    made = allocations.load() - before;
    EXPECT_EQ(consumed, pipeline.size());
  }
  EXPECT_EQ(made, 0U);
}

}  // namespace
}  // namespace weir::frontend
