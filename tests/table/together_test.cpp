#include "table/together.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "table_fixture.h"

namespace weir::table {
namespace {

class Together : public testing::Test {
 protected:
  struct Part {
    LimitedTable* table;
    std::string key;
    std::uint64_t cost = 1;
  };

  bool decide(const std::vector<Part>& parts, Instant now = noon) {
    std::vector<Check> checks;
    decisions.assign(parts.size(), Decision{});
    for (const Part& part : parts) {
      checks.push_back({&part.table->table(), &part.table->rule(), part.table->request(part.key, part.cost),
                        &decisions[checks.size()]});
    }
    return decide_together(checks, now);
  }

  LimitedTable by_user{*Limit::gcra({.rate = {100, 1min}, .burst = 5}), mebibyte};
  LimitedTable by_route{*Limit::sliding_window_log({.limit = 3, .window = 10s}), mebibyte};
  LimitedTable global{*Limit::sliding_window_counter({.limit = 7, .window = 10s}), mebibyte};
  std::vector<Decision> decisions;
};

TEST_F(Together, AllAreChargedWhenAllAdmit) {
  EXPECT_TRUE(decide({{&by_user, "ann"}, {&by_route, "/login", 2}, {&global, ""}}));
  EXPECT_EQ(by_user.left("ann", noon), 4U);
  EXPECT_EQ(by_route.left("/login", noon), 1U);
  EXPECT_EQ(global.left("", noon), 6U);
  EXPECT_EQ(decisions[1].remaining, 1U);
}

TEST_F(Together, NoneIsChargedWhenOneDenies) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(decide({{&by_user, "ann"}, {&by_route, "/login"}, {&global, ""}}));
  EXPECT_FALSE(decide({{&by_user, "ann"}, {&by_route, "/login"}, {&global, ""}}));
  EXPECT_EQ(by_user.left("ann", noon), 2U);
  EXPECT_EQ(global.left("", noon), 4U);
}

TEST_F(Together, ADenialTellsWhichLimitDeniedAndWhatIsLeftInTheOthers) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(decide({{&by_user, "ann"}, {&by_route, "/login"}}));
  EXPECT_FALSE(decide({{&by_user, "ann"}, {&by_route, "/login"}}));
  EXPECT_TRUE(decisions[0].admitted);
  EXPECT_EQ(decisions[0].remaining, 2U);
  EXPECT_FALSE(decisions[1].admitted);
  EXPECT_EQ(decisions[1].retry_after, 10s);
}

TEST_F(Together, AKeyThatOccursTwiceSeesItsFirstCharge) {
  EXPECT_TRUE(decide({{&by_user, "ann", 3}, {&by_user, "ann", 2}}));
  EXPECT_EQ(decisions[0].remaining, 2U);
  EXPECT_EQ(decisions[1].remaining, 0U);
  EXPECT_FALSE(decide({{&by_user, "bob", 3}, {&by_user, "bob", 3}}));
  EXPECT_EQ(by_user.left("bob", noon), 5U);
  EXPECT_TRUE(decide({{&by_route, "/a", 1}, {&by_route, "/a", 2}}));
  EXPECT_EQ(by_route.left("/a", noon), 0U);
  EXPECT_FALSE(decide({{&by_route, "/b", 2}, {&by_route, "/b", 2}}));
  EXPECT_EQ(by_route.left("/b", noon), 3U);
}

TEST_F(Together, CostsWhoseSumPassesSixtyFourBitsAreDenied) {
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(decide({{&by_route, "/a", huge}, {&by_route, "/a", 2}}));
  EXPECT_EQ(decisions[1].retry_after, std::nullopt);
}

TEST_F(Together, ManyNewKeysOfOneTableEachGetACellOfTheirOwn) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < max_group_size; ++i) parts.push_back({&by_user, "user-" + std::to_string(i)});
  for (int round = 0; round < 5; ++round) ASSERT_TRUE(decide(parts)) << round;
  EXPECT_FALSE(decide(parts));
  for (const Part& part : parts) ASSERT_EQ(by_user.left(part.key, noon), 0U);
}

TEST_F(Together, AQueueThatIsTooLongForOneCallerChargesNothingElsewhere) {
  LimitedTable queue{*Limit::leaky_bucket(QueueNumbers{.rate = {10, 1s}, .queue = 6}), mebibyte};
  std::array<Decision, 2> made;
  std::array checks = {Check{&by_user.table(), &by_user.rule(), by_user.request("ann"), &made[0]},
                       Check{&queue.table(), &queue.rule(), queue.request("sms"), &made[1]}};
  checks[1].request.max_wait = 100ms;
  EXPECT_TRUE(decide_together(checks, noon));
  EXPECT_TRUE(decide_together(checks, noon));
  EXPECT_EQ(made[1].delay, 100ms);
  EXPECT_FALSE(decide_together(checks, noon));
  EXPECT_EQ(made[1].retry_after, 100ms);
  EXPECT_EQ(by_user.left("ann", noon), 3U);
}

TEST_F(Together, WithoutRoomKeysShareOverflowStatesAndStillAllOrNothing) {
  LimitedTable tight{*Limit::gcra({.rate = {1, 1h}, .burst = 2}), std::size_t{256} << 10};
  for (int i = 0; i < 50'000; ++i) std::ignore = tight.decide("filler-" + std::to_string(i), noon);
  ASSERT_GT(tight.table().overflowed(), 0U);
  std::uint64_t admitted = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string key = "late-" + std::to_string(i);
    if (decide({{&tight, key}, {&by_user, key}})) {
      ++admitted;
    } else {
      ASSERT_EQ(by_user.left(key, noon), 5U);
    }
  }
  EXPECT_LE(admitted, 2U * Table::overflow_states);
}

}  // namespace
}  // namespace weir::table
