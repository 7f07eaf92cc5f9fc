#include "frontend/rls/quota_bucket.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/frontend_rls/quota_simulation.h"

namespace weir::frontend::quota_bucket_tests {
namespace {

using namespace std::chrono_literals;
using Kind = QuotaAction::Kind;
using Numbers = QuotaAssigner::Numbers;

constexpr Instant noon{12h};

std::shared_ptr<QuotaAssigner> limit_of(std::uint64_t burst, Rate rate) {
  return std::make_shared<QuotaAssigner>(Numbers{burst, rate}, noon);
}

struct Bucket : QuotaBucket {
  explicit Bucket(const std::vector<Part>& parts) : QuotaBucket(parts, {}, noon) { report(1, noon); }
};

TEST(QuotaBucket, TheFirstAssignmentComesWithTheFirstReport) {
  Bucket bucket({{limit_of(80, {200, 1s}), Cost{1}}});
  EXPECT_EQ(bucket.next(noon), (QuotaAction{Kind::token_bucket, 35, 100, 1s, 2s, true}));
  EXPECT_EQ(bucket.next(noon), std::nullopt);
}

TEST(QuotaBucket, AnAssignmentIsRenewedInTime) {
  Bucket bucket({{limit_of(80, {200, 1s}), Cost{1}}});
  EXPECT_TRUE(bucket.next(noon)->is_new);
  EXPECT_EQ(bucket.next(noon + 499ms), std::nullopt);
  EXPECT_EQ(bucket.next(noon + 500ms), (QuotaAction{Kind::token_bucket, 35, 100, 1s, 2s, false}));
  EXPECT_EQ(bucket.next(noon + 999ms), std::nullopt);
  EXPECT_FALSE(bucket.next(noon + 1500ms)->is_new) << "a second is left for the way";
}

TEST(QuotaBucket, ALateRenewalIsANewAssignment) {
  const auto limit = limit_of(80, {200, 1s});
  Bucket bucket({{limit, Cost{1}}});
  static_cast<void>(bucket.next(noon));
  EXPECT_EQ(limit->assigned_burst(), 35U);
  EXPECT_TRUE(bucket.next(noon + 1001ms)->is_new);
  EXPECT_EQ(limit->assigned_burst(), 53U) << "both count, and the pool pays for both";
}

TEST(QuotaBucket, TheTimeToLiveIsASecondLessThanTheTimeBetweenReports) {
  for (const auto& [interval, time_to_live] : std::vector<std::pair<Duration, std::chrono::seconds>>{
           {500ms, 2s}, {3s, 2s}, {3999ms, 2s}, {5s, 4s}, {10s, 9s}, {60s, 30s}}) {
    Bucket bucket({{limit_of(80, {200, 1s}), Cost{1}}});
    bucket.report(1, noon + interval);
    EXPECT_EQ(bucket.next(noon + interval)->time_to_live, time_to_live) << interval.count();
  }
}

TEST(QuotaBucket, WhatNoLimitCoversIsAdmittedOrDeniedAsThePolicySays) {
  QuotaBucket admitted(true, {}, noon);
  EXPECT_EQ(admitted.next(noon)->kind, Kind::allow_all);
  EXPECT_EQ(admitted.next(noon + 400ms), std::nullopt);
  EXPECT_EQ(admitted.next(noon + 500ms)->kind, Kind::allow_all);
  QuotaBucket denied(false, {}, noon);
  EXPECT_EQ(denied.next(noon)->kind, Kind::deny_all);
}

TEST(QuotaBucket, WhereNothingIsLeftItIsDeniedUntilSomethingIs) {
  const auto limit = limit_of(80, {200, 1s});
  const auto holder = limit->join();
  limit->assign(holder, {80, 200}, noon, noon + 3s);
  Bucket bucket({{limit, Cost{1}}});
  EXPECT_EQ(bucket.next(noon)->kind, Kind::deny_all);
  EXPECT_EQ(bucket.next(noon + 2900ms)->kind, Kind::deny_all);
  EXPECT_EQ(bucket.next(noon + 3100ms)->kind, Kind::token_bucket) << "ten are to stay in the pool";
}

TEST(QuotaBucket, RequestsAreCountedByWhatTheyCost) {
  Bucket bucket({{limit_of(80, {200, 1s}), Cost{4}}});
  EXPECT_EQ(bucket.next(noon), (QuotaAction{Kind::token_bucket, 8, 100, 4s, 2s, true}));
  Bucket too_dear({{limit_of(80, {200, 1s}), Cost{1'000'000'000'000}}});
  EXPECT_EQ(too_dear.next(noon)->kind, Kind::deny_all);
}

TEST(QuotaBucket, UnderSeveralLimitsItHasTheLeastOfEach) {
  const auto wide = limit_of(20, {2'000, 1s});
  const auto narrow = limit_of(800, {50, 1s});
  Bucket bucket({{wide, Cost{1}}, {narrow, Cost{1}}});
  EXPECT_EQ(bucket.next(noon), (QuotaAction{Kind::token_bucket, 9, 50, 2s, 2s, true}));
  EXPECT_EQ(wide->assigned_per_fill(), 25U);
  EXPECT_EQ(narrow->assigned_burst(), 9U);
}

// Even if the reduction is small, and even if the pool is empty.
TEST(QuotaBucket, WhereTheLimitIsLoweredWhatIsTooMuchIsTakenBack) {
  for (const auto& [burst, rate, kind] :
       std::vector<std::tuple<std::uint64_t, std::uint64_t, Kind>>{{80, 98, Kind::token_bucket},
                                                                   {80, 10, Kind::token_bucket},
                                                                   {40, 98, Kind::token_bucket},
                                                                   {35, 98, Kind::deny_all},
                                                                   {30, 200, Kind::deny_all}}) {
    const auto limit = limit_of(80, {200, 1s});
    Bucket bucket({{limit, Cost{1}}});
    EXPECT_EQ(bucket.next(noon), (QuotaAction{Kind::token_bucket, 35, 100, 1s, 2s, true}));
    limit->change({burst, {rate, 1s}}, noon);
    EXPECT_EQ(bucket.next(noon + 100ms)->kind, kind) << burst << " " << rate;
    for (int i = 2; i <= 40; ++i) static_cast<void>(bucket.next(noon + i * 100ms));
    EXPECT_FALSE(limit->is_overdrawn());
    EXPECT_LE(limit->assigned_per_fill(), limit->per_fill());
    EXPECT_LE(limit->assigned_burst(), burst);
  }
}

TEST(QuotaBucket, OneWithoutRequestsIsAbandoned) {
  const auto limit = limit_of(80, {200, 1s});
  Bucket bucket({{limit, Cost{1}}});
  for (Instant now = noon + 5s; now < noon + 60s; now += 5s) {
    bucket.report(0, now);
    EXPECT_NE(bucket.next(now)->kind, Kind::abandon);
  }
  EXPECT_EQ(bucket.next(noon + 60s)->kind, Kind::abandon);
}

TEST(QuotaBucket, OneThatIsNotReportedIsAbandoned) {
  Bucket bucket({{limit_of(80, {200, 1s}), Cost{1}}});
  bucket.report(100, noon + 5s);
  EXPECT_NE(bucket.next(noon + 19900ms)->kind, Kind::abandon);
  EXPECT_EQ(bucket.next(noon + 20s)->kind, Kind::abandon) << "three times five seconds";
}

// Envoys that share a limit of 60 per second and report every five seconds.
class Behind {
 public:
  explicit Behind(std::vector<double> demands) : limit_(limit_of(120, {60, 1s})), demands_(std::move(demands)) {
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      envoys.emplace_back(std::vector<QuotaBucket::Part>{{limit_, Cost{1}}}, interval);
      envoys.back().connect(now_);
    }
    due_.resize(demands_.size());
  }

  void demand(std::vector<double> demands) { demands_ = std::move(demands); }

  // The average number of requests that each admitted per second.
  std::vector<double> run(Duration time) {
    std::vector<double> admitted(envoys.size());
    for (const Instant end = now_ + time; now_ < end; now_ += 10ms) {
      for (std::size_t i = 0; i < envoys.size(); ++i) {
        envoys[i].serve(now_, 20ms);
        envoys[i].receive(now_);
        for (due_[i] += demands_[i] / 100; due_[i] >= 1; due_[i] -= 1) {
          if (!envoys[i].admits(now_)) continue;
          admitted[i] += 1s / std::chrono::duration<double>(time);
          EXPECT_TRUE(check_.admit(1, now_));
        }
      }
    }
    return admitted;
  }

  static constexpr Duration interval = 5s;
  std::vector<Connected> envoys;

 private:
  Instant now_ = noon;
  std::shared_ptr<QuotaAssigner> limit_;
  std::vector<double> demands_;
  std::vector<double> due_;
  BoundCheck check_{{120, {60, 1s}}};
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.15 * expected[i] + 0.5) << i;
}

TEST(QuotaShares, FollowTheDemandWithinThreeReports) {
  Behind envoys({5, 20, 100});
  static_cast<void>(envoys.run(3 * Behind::interval));
  expect_near(envoys.run(5s), {5, 20, 29});
  envoys.demand({100, 20, 5});
  static_cast<void>(envoys.run(3 * Behind::interval));
  expect_near(envoys.run(5s), {29, 20, 5});
}

TEST(QuotaShares, OfOneThatIsGoneGoToTheOthers) {
  Behind envoys({100, 100, 100});
  static_cast<void>(envoys.run(3 * Behind::interval));
  expect_near(envoys.run(5s), {19, 19, 19});
  envoys.envoys[0].disconnect();
  envoys.demand({0, 100, 100});
  static_cast<void>(envoys.run(3 * Behind::interval));
  expect_near(envoys.run(10s), {0, 28, 28});
}

TEST(QuotaShares, StayWhereTheDemandIsSteady) {
  Behind envoys({40, 50, 100});
  static_cast<void>(envoys.run(3 * Behind::interval));
  for (Connected& envoy : envoys.envoys) envoy.new_actions.clear();
  static_cast<void>(envoys.run(60s));
  for (const Connected& envoy : envoys.envoys) EXPECT_LE(envoy.new_actions.size(), 1U) << "at most its burst, once";
}

TEST(QuotaShares, MoveByATenthOrNotAtAll) {
  Behind envoys({5, 20, 100});
  for (const auto& demands : std::vector<std::vector<double>>{{100, 20, 5}, {50, 45, 40}, {0, 0, 100}, {70, 10, 30}}) {
    static_cast<void>(envoys.run(20s));
    envoys.demand(demands);
  }
  for (const Connected& envoy : envoys.envoys) {
    ASSERT_GT(envoy.new_actions.size(), 1U);
    for (std::size_t i = 1; i < envoy.new_actions.size(); ++i) {
      const QuotaAction& before = envoy.new_actions[i - 1];
      const QuotaAction& after = envoy.new_actions[i];
      if (before.kind != Kind::token_bucket || after.kind != Kind::token_bucket) continue;
      const double rate = before.tokens_per_fill;
      const bool is_moved = std::abs(after.tokens_per_fill - rate) >= rate / 10;
      EXPECT_TRUE(is_moved || after.max_tokens >= 2 * before.max_tokens) << rate << " " << after.tokens_per_fill;
    }
  }
}

}  // namespace
}  // namespace weir::frontend::quota_bucket_tests
