// KeyedLimiter: the same limit for each of many keys, on a clock that the test moves.
#include "weir/keyed_limiter.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/limiter/limits.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

// A few keys, each repeatedly, at any cost up to more than fits.
std::vector<KeyedLimiter::Request> two_hundred_requests() {
  static const auto keys = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 200; ++i) made.push_back("key" + std::to_string(i * i % 37));
    return made;
  }();
  std::vector<KeyedLimiter::Request> requests;
  for (std::size_t i = 0; i < keys.size(); ++i) requests.push_back({.key = keys[i], .cost = Cost{i % 5}});
  return requests;
}

class KeyedLimiterTest : public testing::Test {
 protected:
  void limit_to(const Limit& limit) { limiter_ = KeyedLimiter::create(limit, clock_).value(); }
  Decision check(std::string_view key, std::uint64_t cost = 1) { return limiter_.check(key, Cost{cost}); }
  [[nodiscard]] std::uint64_t remaining(std::string_view key) const { return limiter_.peek(key, Cost{0}).remaining; }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(first_instant);
  KeyedLimiter limiter_ = KeyedLimiter::create(Limit::gcra({.rate = {1, 10s}, .burst = 3}).value(), clock_).value();
};

TEST_F(KeyedLimiterTest, EveryKeyHasALimitOfItsOwn) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    EXPECT_TRUE(check("anna", 3));
    EXPECT_FALSE(check("anna"));
    EXPECT_TRUE(check("bert", 3)) << name_of(limit.algorithm());
    EXPECT_EQ(remaining("carl"), 3U) << name_of(limit.algorithm());
  }
}

TEST_F(KeyedLimiterTest, AnyBytesAreAKey) {
  const std::string long_key(10'000, 'x');
  const std::vector<std::string_view> keys{"", std::string_view("\0", 1), std::string_view("\0\0", 2), long_key, "x"};
  for (const std::string_view key : keys) EXPECT_TRUE(check(key, 3));
  for (const std::string_view key : keys) EXPECT_FALSE(check(key));
}

TEST_F(KeyedLimiterTest, DefaultCostIsOne) {
  EXPECT_EQ(limiter_.check("anna").remaining, 2U);
  EXPECT_EQ(limiter_.peek("anna").remaining, 1U);
}

TEST_F(KeyedLimiterTest, PeekAnswersWhatCheckWouldAndChargesNothing) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    for (const std::uint64_t cost : {1U, 0U, 2U, 1U, 3U, 4U}) {
      const Decision peeked = limiter_.peek("anna", Cost{cost});
      EXPECT_EQ(limiter_.peek("anna", Cost{cost}), peeked);
      EXPECT_EQ(check("anna", cost), peeked) << name_of(limit.algorithm()) << " cost " << cost;
    }
  }
}

TEST_F(KeyedLimiterTest, ResetIsAsIfTheKeyWasNeverSeen) {
  for (const Limit& limit : one_of_each(5, 10s)) {
    limit_to(limit);
    std::ignore = check("anna", 5);
    std::ignore = check("bert", 5);
    limiter_.reset("anna");
    EXPECT_EQ(remaining("anna"), 5U) << name_of(limit.algorithm());
    EXPECT_EQ(remaining("bert"), 0U) << name_of(limit.algorithm());
    EXPECT_TRUE(check("anna", 5));
    EXPECT_FALSE(check("anna"));
  }
}

TEST_F(KeyedLimiterTest, BatchEqualsItsRequestsCheckedInOrder) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    KeyedLimiter one_by_one = KeyedLimiter::create(limit, clock_).value();
    const std::vector<KeyedLimiter::Request> requests = two_hundred_requests();
    std::vector<Decision> decisions(requests.size());
    limiter_.check(requests, decisions);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(decisions[i], one_by_one.check(requests[i].key, requests[i].cost))
          << name_of(limit.algorithm()) << " request " << i;
    }
  }
}

TEST_F(KeyedLimiterTest, AdmitSaysWhatCheckWouldAndChargesTheSame) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    KeyedLimiter checked = KeyedLimiter::create(limit, clock_).value();
    for (int i = 0; i < 500; ++i) {
      const std::string key = "key" + std::to_string(i * i % 37);
      const Cost cost{static_cast<std::uint64_t>(i) % 5};
      EXPECT_EQ(limiter_.admit(key, cost), checked.check(key, cost).admitted) << name_of(limit.algorithm()) << " " << i;
      EXPECT_EQ(remaining(key), checked.peek(key, Cost{0}).remaining) << name_of(limit.algorithm()) << " " << i;
      clock_->advance(100ms);
    }
  }
}

TEST_F(KeyedLimiterTest, AdmittingABatchEqualsAdmittingItsRequestsInOrder) {
  for (const Limit& limit : one_of_each(3, 10s)) {
    limit_to(limit);
    KeyedLimiter one_by_one = KeyedLimiter::create(limit, clock_).value();
    const std::vector<KeyedLimiter::Request> requests = two_hundred_requests();
    std::array<bool, 200> admitted{};
    limiter_.admit(requests, admitted);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(admitted[i], one_by_one.admit(requests[i].key, requests[i].cost))
          << name_of(limit.algorithm()) << " request " << i;
    }
  }
}

TEST_F(KeyedLimiterTest, BatchDecidesAsManyAsThereIsRoomForAnswers) {
  const std::array<KeyedLimiter::Request, 3> requests{{{"anna"}, {"bert"}, {"carl"}}};
  std::array<bool, 2> admitted{};
  limiter_.admit(requests, admitted);
  EXPECT_EQ(remaining("bert"), 2U);
  EXPECT_EQ(remaining("carl"), 3U);
}

TEST_F(KeyedLimiterTest, KeyThatOccursTwiceInABatchSeesItsFirstCharge) {
  const std::array<KeyedLimiter::Request, 3> requests{{{"anna", Cost{2}}, {"bert", Cost{2}}, {"anna", Cost{2}}}};
  std::array<Decision, 3> decisions;
  limiter_.check(requests, decisions);
  EXPECT_TRUE(decisions[0]);
  EXPECT_TRUE(decisions[1]);
  EXPECT_FALSE(decisions[2]);
  EXPECT_EQ(decisions[2].remaining, 1U);
}

TEST_F(KeyedLimiterTest, EmptyBatchIsNothing) {
  limiter_.check(std::span<const KeyedLimiter::Request>{}, std::span<Decision>{});
  EXPECT_EQ(remaining("anna"), 3U);
}

TEST_F(KeyedLimiterTest, MovedLimiterRemembersItsKeys) {
  std::ignore = check("anna", 2);
  KeyedLimiter moved = std::move(limiter_);
  EXPECT_EQ(moved.peek("anna", Cost{0}).remaining, 1U);
}

TEST_F(KeyedLimiterTest, UsageStaysWithinTheBudgetAndCountsWhatFoundNoRoom) {
  constexpr std::size_t budget = std::size_t{1} << 20;
  limiter_ = KeyedLimiter::create(Limit::gcra({.rate = {1, 1h}, .burst = 3}).value(), clock_, {.memory_budget = budget})
                 .value();
  EXPECT_EQ(limiter_.usage().overflowed, 0U);
  std::ignore = check("anna", 2);
  for (int i = 0; i < 200'000; ++i) {
    std::ignore = check("key" + std::to_string(i));
    ASSERT_LE(limiter_.usage().bytes, budget);
  }
  EXPECT_GT(limiter_.usage().bytes, 0U);
  EXPECT_GT(limiter_.usage().overflowed, 0U);
  EXPECT_EQ(remaining("anna"), 1U);
}

TEST(KeyedLimiter, MissingClockIsRejectedByName) {
  const Limit limit = Limit::gcra({.rate = {1, 1s}}).value();
  EXPECT_EQ(KeyedLimiter::create(limit, nullptr).error().message(),
            "clock: must not be null: pass a WallClock, or a ManualClock in a test");
  EXPECT_EQ(KeyedLimiter::restore("anywhere", limit, nullptr, {}).error().where, "clock");
}

TEST(KeyedLimiter, BudgetThatIsTooSmallIsRejectedWithTheMinimum) {
  const auto clock = std::make_shared<ManualClock>(first_instant);
  for (const Limit& limit : one_of_each(100, 10s)) {
    for (const std::size_t budget : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      const auto refused = KeyedLimiter::create(limit, clock, {.memory_budget = budget});
      ASSERT_FALSE(refused) << name_of(limit.algorithm());
      EXPECT_EQ(refused.error().where, "memory_budget");
      const std::string& what = refused.error().what;
      const std::string least = "must be at least ";
      ASSERT_NE(what.find(least), std::string::npos) << what;
      const std::size_t enough = std::stoull(what.substr(what.find(least) + least.size()));
      EXPECT_TRUE(KeyedLimiter::create(limit, clock, {.memory_budget = enough})) << what;
    }
  }
}

}  // namespace
}  // namespace weir
