// With the maximum number of buckets per stream, the assignments equal those of the oracle, and the cost of a call does
// not grow with the number of buckets.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "frontend/rls/quotas.h"
#include "tests/frontend_rls/naive_quota_assigner.h"

namespace weir::frontend::quota_scale_tests {
namespace {

using namespace std::chrono_literals;
using Numbers = QuotaAssigner::Numbers;
using Share = QuotaAssigner::Share;
using Holder = QuotaAssigner::Holder;

constexpr Instant noon{12h};

// Makes the same calls to both. Returns false if the results differ.
class Both {
 public:
  explicit Both(std::uint32_t seed) : random_(seed), fast_(any_numbers(), noon), naive_(fast_.numbers(), noon) {}

  [[nodiscard]] bool step() {
    now_ += Duration(static_cast<Duration::rep>(below(3) == 0 ? 0 : below(800'000)));
    if (holders_.empty() || below(6) == 0) return join();
    const Holder holder = holders_[below(holders_.size())];
    switch (below(8)) {
      case 0:
        return leave(holder);
      case 1:
        return change();
      case 2:
        fast_.extend(holder, now_ + 2s);
        naive_.extend(holder, now_ + 2s);
        return true;
      case 3:
      case 4:
        return demand(holder);
      default:
        return assign(holder);
    }
  }

  [[nodiscard]] bool agree() {
    return fast_.pool(now_) == naive_.pool(now_) && fast_.assigned_burst() == naive_.assigned_burst() &&
           fast_.assigned_per_fill() == naive_.assigned_per_fill() && fast_.is_overdrawn() == naive_.is_overdrawn() &&
           fast_.is_pristine(now_) == naive_.is_pristine(now_) && std::ranges::all_of(holders_, [&](Holder holder) {
             return fast_.fair(holder) == naive_.fair(holder) &&
                    fast_.offer(holder, now_) == naive_.offer(holder, now_);
           });
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Numbers any_numbers() { return {below(300), {below(400), below(3) == 0 ? Duration(1min) : Duration(1s)}}; }
  bool join() {
    holders_.push_back(fast_.join());
    return naive_.join() == holders_.back();
  }
  bool leave(Holder holder) {
    std::erase(holders_, holder);
    fast_.leave(holder);
    naive_.leave(holder);
    return true;
  }
  bool change() {
    if (below(4) != 0) return true;
    const Numbers numbers = any_numbers();
    fast_.change(numbers, now_);
    naive_.change(numbers, now_);
    return true;
  }
  bool demand(Holder holder) {
    const std::uint64_t requests = below(3) == 0 ? below(2'000) : below(6);  // often equal
    const Cost each{1 + below(3)};
    fast_.set_demand(holder, requests, each, 1s);
    naive_.set_demand(holder, requests, each, 1s);
    return true;
  }
  bool assign(Holder holder) {
    const Share offered = fast_.offer(holder, now_);
    if (offered != naive_.offer(holder, now_)) return false;
    const Instant until = now_ + Duration(static_cast<Duration::rep>(1 + below(4'000'000)));
    fast_.assign(holder, offered, now_, until);
    naive_.assign(holder, offered, now_, until);
    return true;
  }

  std::mt19937 random_;
  QuotaAssigner fast_;
  NaiveQuotaAssigner naive_;
  std::vector<Holder> holders_;
  Instant now_ = noon;
};

RC_GTEST_PROP(QuotaScale, AssignmentsAreThoseOfTheOracle, (std::uint32_t seed)) {
  Both both(seed);
  for (int i = 0; i < 300; ++i) {
    RC_ASSERT(both.step());
    RC_ASSERT(both.agree());
  }
}

// A limit with this many holders, each with an assignment until noon + 10s.
struct Crowd : QuotaAssigner {
  explicit Crowd(std::uint64_t count) : QuotaAssigner({100'000'000, {1'000'000, 1s}}, noon) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Holder holder = join();
      if (i % 2 == 0) set_demand(holder, i % 97, Cost{1}, 1s);
      assign(holder, {1, 1}, noon, noon + 10s);
    }
  }

  // The cost of the most expensive of a few calls.
  template <class Call>
  std::uint64_t visits(const Call& call) {
    std::uint64_t highest = 0;
    for (Holder holder = 0; holder < 100; ++holder) {
      const std::uint64_t before = visited();
      call(holder);
      highest = std::max(highest, visited() - before);
    }
    return highest;
  }
};

TEST(QuotaScale, ACallVisitsItsHolderAndALogarithmOfTheOthers) {
  constexpr std::uint64_t log2 = 14;
  constexpr std::uint64_t descents = 8;  // through the demands, in the most expensive call
  constexpr std::uint64_t bound = 2 + descents * 5 * log2 / 2;
  Crowd crowd(16'384);
  EXPECT_LE(crowd.visits([&](Holder holder) { crowd.set_demand(holder, 5 * holder, Cost{1}, 1s); }), bound);
  EXPECT_LE(crowd.visits([&](Holder holder) {
    crowd.set_demand(holder, holder, Cost{1}, 1s);  // forces a new division
    static_cast<void>(crowd.offer(holder, noon + 1s));
  }),
            bound);
  EXPECT_LE(crowd.visits([&](Holder holder) { crowd.assign(holder, {1, 1}, noon + 1s, noon + 20s); }), 2U);
  EXPECT_LE(crowd.visits([&](Holder holder) { crowd.extend(holder, noon + 21s); }), 1U);
  EXPECT_LE(crowd.visits([&](Holder holder) { crowd.leave(holder); }), bound);
  EXPECT_LE(crowd.visits([&](Holder) { static_cast<void>(crowd.join()); }), bound);
}

TEST(QuotaScale, ACallEndsABoundedNumberOfHoldsAndTheNextOnesTheRest) {
  Crowd crowd(2'000);
  const std::uint64_t pool = crowd.pool(noon);
  std::uint64_t calls = 0;
  for (std::uint64_t held = crowd.assigned_burst(); held > 0; ++calls) {
    const std::uint64_t before = crowd.visited();
    const std::uint64_t found = crowd.pool(noon + 11s);
    EXPECT_LE(crowd.visited() - before, QuotaAssigner::max_expired);
    EXPECT_LT(crowd.assigned_burst(), held);
    held = crowd.assigned_burst();
    if (held > 0) {
      EXPECT_LE(found, pool) << "not more than if all were still out";
    }
  }
  EXPECT_EQ(calls, 8U);
  EXPECT_EQ(crowd.pool(noon + 11s), pool + 2'000) << "the rate of the last second, up to the burst";
}

TEST(QuotaScale, ChangedNumbersWithTheSameFillIntervalVisitNoHolder) {
  Crowd crowd(16'384);
  const std::uint64_t before = crowd.visited();
  crowd.change({5'000, {5'000, 1s}}, noon);
  EXPECT_EQ(crowd.visited(), before);
  EXPECT_TRUE(crowd.is_overdrawn());
}

// Streams with buckets under one limit.
struct Streams : Quotas {
  explicit Streams(const Bounds& bounds = {}) : Quotas({}, bounds) {}

  static QuotaTerms terms(std::string_view /*id*/) {
    return {.admits = true, .limits = {{"limit", {100'000'000, {1'000'000, 1s}}, Cost{1}}}};
  }
  std::unique_ptr<QuotaStream> open_with(std::size_t buckets, Instant now = noon) {
    auto stream = open();
    for (std::size_t i = 0; i < buckets; ++i) stream->report(std::to_string(i), 1, terms, now);
    return stream;
  }
};

TEST(QuotaScale, ACollectVisitsAsManyBucketsAsItIsAllowedAndTheNextOnesTheRest) {
  Streams quotas;
  const auto stream = quotas.open_with(1'000);
  std::size_t sent = 0;
  const auto say = [&](std::string_view, const QuotaAction&) { ++sent; };
  for (const std::size_t expected : std::vector<std::size_t>{300, 600, 900, 1'000}) {
    EXPECT_TRUE(stream->has_more());
    EXPECT_EQ(stream->collect(noon, Streams::terms, say, 300), expected == 1'000 ? 200U : 0U);
    EXPECT_EQ(sent, expected) << "those that were reported";
  }
  EXPECT_FALSE(stream->has_more());
  stream->begin_round();
  for (const std::size_t expected : std::vector<std::size_t>{1'600, 2'000}) {
    stream->collect(noon + 500ms, Streams::terms, say, 600);
    EXPECT_EQ(sent, expected) << "all are sent again";
  }
}

TEST(QuotaScale, AReportedBucketIsAnsweredBeforeTheRound) {
  Streams quotas;
  const auto stream = quotas.open_with(1'000);
  const auto ignored = [](std::string_view, const QuotaAction&) {};
  stream->collect(noon, Streams::terms, ignored, 1'000);
  stream->begin_round();
  stream->collect(noon + 500ms, Streams::terms, ignored, 10);
  stream->report("zebra", 1, Streams::terms, noon + 500ms);
  std::vector<std::string> sent;
  stream->collect(
      noon + 500ms, Streams::terms, [&](std::string_view id, const QuotaAction&) { sent.emplace_back(id); }, 1);
  EXPECT_EQ(sent, std::vector<std::string>{"zebra"});
}

TEST(QuotaScale, TheBucketsOfAStreamThatHasEndedAreReleasedInBatches) {
  constexpr std::size_t batch = Quotas::max_released;
  Streams quotas;
  quotas.open_with(10 * batch).reset();
  EXPECT_EQ(quotas.figures().streams, 0U);
  EXPECT_EQ(quotas.figures().buckets, 9 * batch);
  for (std::size_t left = 8; left > 0; --left) {
    EXPECT_TRUE(quotas.release_some());
    EXPECT_EQ(quotas.figures().buckets, left * batch);
  }
  EXPECT_FALSE(quotas.release_some());
  EXPECT_EQ(quotas.figures().buckets, 0U);
}

// Without a loop, other streams release the buckets.
TEST(QuotaScale, OtherStreamsReleaseThemAsWell) {
  Streams quotas({.buckets = 1'000});
  quotas.open_with(1'000).reset();
  const auto stream = quotas.open_with(500);
  EXPECT_EQ(quotas.figures().refused, 0U);
}

// Buckets of one consumer may have different numbers if tiers share a key.
TEST(QuotaScale, ALimitWithManyHoldersChangesItsNumbersOnceASecond) {
  const auto terms = [](std::string_view id) {
    const bool is_gold = id.back() % 2 == 0;  // fill intervals differ
    return QuotaTerms{.admits = true, .limits = {{"limit", {80, {is_gold ? 200U : 50U, 1s}}, Cost{1}}}};
  };
  Quotas quotas;
  const auto stream = quotas.open();
  for (int i = 0; i < 1'000; ++i) stream->report(std::to_string(i), 1, terms, noon);
  const std::uint64_t while_few = quotas.figures().changes;
  EXPECT_LT(while_few, 100U);
  const auto collect = [&](Instant now) {
    stream->collect(now, terms, [](std::string_view, const QuotaAction&) {}, 1'000);
    return quotas.figures().changes;
  };
  EXPECT_EQ(collect(noon + 999ms), while_few);
  EXPECT_EQ(collect(noon + 1s), while_few + 1) << "what came last";
  EXPECT_EQ(collect(noon + 2s), while_few + 1);
}

}  // namespace
}  // namespace weir::frontend::quota_scale_tests
