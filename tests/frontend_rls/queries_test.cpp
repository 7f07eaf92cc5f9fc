// ShouldRateLimit in the domain `weir`: descriptors as queries.
#include <gtest/gtest.h>

#include "tests/frontend_rls/rls_fixture.h"

namespace weir::frontend::queries_tests {
namespace {

constexpr std::string_view policy = R"(
version: 1
limits:
  - name: by-user
    routes: [/api/**]
    consumer_key: user
    algorithm: token_bucket
    rate: 60/min
    burst: 5
    cost: { POST /api/heavy: 2 }
  - name: by-colour
    routes: [/paint]
    consumer_key: header:X-Colour
    algorithm: fixed_window
    rate: 2/min
  - name: tokens
    routes: [/tokens]
    consumer_key: user
    algorithm: token_bucket
    rate: 60/min
    burst: 5
  - name: line
    routes: [/line]
    consumer_key: global
    algorithm: leaky_bucket
    rate: 1/s
    queue: 10
)";

TEST(RlsQueries, EntriesAreAQuery) {
  RlsFixture frontend(policy);
  const MessageFields response =
      frontend.limit(Ask("weir").descriptor({{"method", "GET"}, {"path", "/api/x"}, {"user", "alice"}}));
  EXPECT_EQ(response.number(1), ok);
  const MessageFields status = response.message(2);
  EXPECT_EQ(status.message(2).text(3), "by-user");
  EXPECT_EQ(status.message(2).number(1), 1U);
  EXPECT_EQ(status.message(2).number(2), 1U);  // a second
  EXPECT_EQ(status.number(3), 4U);
  EXPECT_EQ(response.header("ratelimit-policy"), R"("by-user";q=5;w=5)");
}

TEST(RlsQueries, CostIsThePolicysWhereItWritesOne) {
  RlsFixture frontend(policy);
  const Entries heavy{{"method", "POST"}, {"path", "/api/heavy"}, {"user", "alice"}};
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(heavy)).message(2).number(3), 3U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(heavy).hits(3)).message(2).number(3), 1U);
}

TEST(RlsQueries, HitsAreTheCostWhereItWritesNoneAndNoneOnlyLook) {
  RlsFixture frontend(policy);
  const Entries tokens{{"path", "/tokens"}, {"user", "alice"}};
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(tokens)).message(2).number(3), 4U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(tokens, hits_field(0))).message(2).number(3), 4U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(tokens).hits(3)).message(2).number(3), 1U);
}

TEST(RlsQueries, DenialThatNoWaitEndsHasNoReset) {
  RlsFixture frontend(R"(
version: 1
limits:
  - { name: known, consumer_key: user, missing: deny, algorithm: fixed_window, rate: 5/min }
)");
  const MessageFields missing = frontend.limit(Ask("weir").descriptor({{"path", "/"}}));
  EXPECT_EQ(missing.number(1), over_limit);
  EXPECT_EQ(missing.message(2).all(4).size(), 0U);
  EXPECT_EQ(missing.header("retry-after"), "");
  EXPECT_NE(missing.text(5).find(R"("missing":"user")"), std::string::npos);

  const MessageFields too_dear = frontend.limit(Ask("weir").descriptor({{"path", "/"}, {"user", "alice"}}).hits(6));
  EXPECT_EQ(too_dear.number(1), over_limit);
  EXPECT_EQ(too_dear.message(2).all(4).size(), 0U) << "six never fit into five";
}

// Envoy may copy its client's input into a descriptor. An error would let the request pass, and so would a limit that
// does not cover it.
TEST(RlsQueries, AddressThatCannotBeReadIsDecided) {
  RlsFixture frontend(R"(
version: 1
limits:
  - { name: by-address, routes: [/a], consumer_key: ip, algorithm: fixed_window, rate: 3/min }
  - { name: strict, routes: [/b], consumer_key: ip, missing: deny, algorithm: fixed_window, rate: 3/min }
)");
  const auto ask = [&](const std::string& path, const std::string& key, const std::string& address) {
    return frontend.limit(Ask("weir").descriptor({{"path", path}, {key, address}})).number(1);
  };
  EXPECT_EQ(ask("/a", "ip", "foo"), ok);
  EXPECT_EQ(ask("/a", "remote_address", "\xff"), ok);
  EXPECT_EQ(ask("/a", "ip", "198.51.100.1, 192.0.2.7"), ok);
  EXPECT_EQ(ask("/a", "ip", " "), over_limit) << "all of them are one consumer";
  EXPECT_EQ(ask("/b", "ip", "foo"), over_limit) << "missing: deny";
  EXPECT_EQ(ask("/a", "ip", ""), ok) << "missing: skip";
  for (const std::string address : {"192.0.2.7", "192.0.2.7:51234", "[192.0.2.7]:80"}) {
    EXPECT_EQ(ask("/a", "remote_address", address), ok) << address;
  }
  EXPECT_EQ(ask("/a", "remote_address", "192.0.2.7:51235"), over_limit) << "a new port is not a new caller";
  EXPECT_EQ(ask("/b", "ip", "192.0.2.7:51235"), ok);
}

TEST(RlsQueries, NegativeHitsAreGivenBackAndNeverOver) {
  RlsFixture frontend(policy);
  const Entries alice{{"path", "/tokens"}, {"user", "alice"}};
  const std::string negative = hits_field(3) + negative_field();
  const MessageFields fresh = frontend.limit(Ask("weir").descriptor(alice, negative));
  EXPECT_EQ(fresh.number(1), ok);
  EXPECT_EQ(fresh.message(2).number(3), 5U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice).hits(5)).number(1), ok);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice)).number(1), over_limit);
  const MessageFields response = frontend.limit(Ask("weir").descriptor(alice, negative));
  EXPECT_EQ(response.number(1), ok);
  EXPECT_EQ(response.message(2).number(1), ok);
  EXPECT_EQ(response.message(2).number(3), 3U);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor(alice).hits(3)).number(1), ok);
  const std::string none = hits_field(0) + negative_field();
  const MessageFields both = frontend.limit(Ask("weir").descriptor(alice, none).descriptor(alice));
  EXPECT_EQ(both.number(1), over_limit);
  EXPECT_EQ(both.message(2, 0).number(1), ok);
  EXPECT_EQ(both.message(2, 1).number(1), over_limit);
}

TEST(RlsQueries, OtherKeysAreHeaders) {
  RlsFixture frontend(policy);
  const auto paint = [&](const std::string& colour) {
    return frontend.limit(Ask("weir").descriptor({{"path", "/paint"}, {"x-colour", colour}})).number(1);
  };
  EXPECT_EQ(paint("red"), ok);
  EXPECT_EQ(paint("red"), ok);
  EXPECT_EQ(paint("red"), over_limit);
  EXPECT_EQ(paint("blue"), ok);
}

TEST(RlsQueries, EachDescriptorIsAQueryAndOneDenialIsTheAnswer) {
  RlsFixture frontend(policy);
  const Entries red{{"path", "/paint"}, {"x-colour", "red"}};
  const Entries alice{{"path", "/api"}, {"user", "alice"}};
  const MessageFields response =
      frontend.limit(Ask("weir").descriptor(red).descriptor(alice).descriptor(red).descriptor(red));
  EXPECT_EQ(response.number(1), over_limit);
  ASSERT_EQ(response.all(2).size(), 4U);
  EXPECT_EQ(response.message(2, 0).number(1), ok);
  EXPECT_EQ(response.message(2, 1).number(1), ok);
  EXPECT_EQ(response.message(2, 2).number(1), ok);
  EXPECT_EQ(response.message(2, 3).number(1), over_limit);
  EXPECT_EQ(response.header("content-type"), "application/problem+json");
  EXPECT_NE(response.text(5).find(R"("violated-policies":["by-colour"])"), std::string::npos) << response.text(5);
}

TEST(RlsQueries, QueuesDoNotDelay) {
  RlsFixture frontend(policy);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor({{"path", "/line"}})).number(1), ok);
  EXPECT_EQ(frontend.limit(Ask("weir").descriptor({{"path", "/line"}})).number(1), over_limit);
}

TEST(RlsQueries, UncoveredQueryIsOkWithoutALimit) {
  RlsFixture frontend(policy);
  const MessageFields response = frontend.limit(Ask("weir").descriptor({{"path", "/elsewhere"}}));
  EXPECT_EQ(response.number(1), ok);
  EXPECT_TRUE(response.message(2).all(2).empty());
  EXPECT_TRUE(response.all(3).empty());
}

}  // namespace
}  // namespace weir::frontend::queries_tests
