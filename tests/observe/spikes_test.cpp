// Compares a rate with its own past, second by second.
#include "observe/spikes.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::observe {
namespace {

using namespace std::chrono_literals;
using State = SpikeTest::State;

constexpr Instant then{1'700'000'000s};

// Adds the same count for some seconds. Returns the seconds at which a spike began.
std::vector<int> spike_starts(SpikeTest& test, int seconds, std::uint32_t count) {
  std::vector<int> at;
  for (int i = 1; i <= seconds; ++i) {
    if (test.add(count) == State::begins) at.push_back(i);
  }
  return at;
}

TEST(SpikeTest, FivefoldStepIsReportedWithinThreeSeconds) {
  for (const std::uint32_t rate : {10U, 100U, 100'000U}) {
    SpikeTest test;
    EXPECT_TRUE(spike_starts(test, 600, rate).empty());
    const auto starts = spike_starts(test, 600, 5 * rate);
    ASSERT_EQ(starts.size(), 1U) << rate;
    EXPECT_LE(starts[0], 3) << rate;
  }
}

TEST(SpikeTest, RatesAreThoseOfTheDetectingStretch) {
  SpikeTest test;
  (void)spike_starts(test, 400, 10);
  EXPECT_EQ(test.add(500), State::begins);
  EXPECT_DOUBLE_EQ(test.rates().now, 520.0 / 3);
  EXPECT_DOUBLE_EQ(test.rates().past, 10.0);
  EXPECT_EQ(test.rates().seconds, 3U);
}

// Where bursts of a few seconds are normal, a step to their height is reported when it has lasted.
TEST(SpikeTest, StepThatLooksLikeANormalBurstIsReportedWhenItLasts) {
  SpikeTest test;
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(spike_starts(test, 5, 500).empty());
    EXPECT_TRUE(spike_starts(test, 55, 100).empty());
  }
  const auto starts = spike_starts(test, 600, 500);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_LE(starts[0], 60);
  EXPECT_EQ(test.rates().seconds, 60U);
}

// The same applies to a step that looks like an hourly job.
TEST(SpikeTest, StepThatLooksLikeTheHourlyJobIsReportedWhenItLasts) {
  SpikeTest test;
  std::size_t of_jobs = 0;
  for (int i = 0; i < 3; ++i) {
    of_jobs += spike_starts(test, 3'580, 100).size();
    of_jobs += spike_starts(test, 20, 2'000).size();
  }
  EXPECT_EQ(of_jobs, 1U);
  (void)spike_starts(test, 3'000, 100);
  const auto starts = spike_starts(test, 600, 700);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_LE(starts[0], 300);
  EXPECT_EQ(test.rates().seconds, 300U);
}

// The same burst in a longer stretch is not a new spike; a higher one is.
TEST(SpikeTest, SpikeIsNotReportedAgainByALongerStretch) {
  SpikeTest test;
  (void)spike_starts(test, 900, 10);
  EXPECT_EQ(spike_starts(test, 10, 400).size(), 1U);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(spike_starts(test, 20, 10).empty());
    EXPECT_TRUE(spike_starts(test, 10, 400).empty());
  }
  (void)spike_starts(test, 20, 10);
  EXPECT_EQ(spike_starts(test, 10, 4'000).size(), 1U);
}

TEST(SpikeTest, NewLevelIsWhatIsUsualAfterAnHour) {
  SpikeTest test;
  (void)spike_starts(test, 900, 10);
  EXPECT_EQ(spike_starts(test, 7'200, 100).size(), 1U);
  EXPECT_EQ(spike_starts(test, 60, 1'000).size(), 1U);
}

TEST(SpikeTest, RateThatDoesNotDoubleIsNotReported) {
  SpikeTest test;
  (void)spike_starts(test, 400, 100);
  EXPECT_TRUE(spike_starts(test, 1'000, 200).empty());
}

TEST(SpikeTest, FewAreNoSpike) {
  SpikeTest test;
  (void)spike_starts(test, 400, 0);
  EXPECT_TRUE(spike_starts(test, 1'000, 4).empty());
  EXPECT_EQ(spike_starts(test, 100, 30).size(), 1U);
}

TEST(SpikeTest, FirstMinutesTellOnlyWhatIsClear) {
  SpikeTest test;
  EXPECT_TRUE(spike_starts(test, 30, 50).empty());
  EXPECT_TRUE(spike_starts(test, 30, 250).empty()) << "the first minute tells nothing";
  EXPECT_TRUE(spike_starts(test, 30, 700).empty()) << "it takes three times as much";
  EXPECT_EQ(spike_starts(test, 30, 3'500).size(), 1U);
}

// Traffic that begins after a start is not a burst.
TEST(SpikeTest, FirstMinutesTellNothingWithoutAPast) {
  SpikeTest test;
  (void)spike_starts(test, 200, 1);
  EXPECT_TRUE(spike_starts(test, 100, 1'000).empty());
  SpikeTest known = SpikeTest::after_silence();
  EXPECT_EQ(spike_starts(known, 3, 1'000), (std::vector<int>{1}));
}

TEST(SpikeTest, BurstThatRecursWithinTheHourIsReportedOnce) {
  for (const int pause : {30, 600, 3'000, 3'600}) {
    SpikeTest test;
    (void)spike_starts(test, 400, 5);
    std::size_t starts = 0;
    for (int i = 0; i < 20; ++i) {
      starts += spike_starts(test, 10, 400).size();
      starts += spike_starts(test, pause - 10, 5).size();
    }
    EXPECT_EQ(starts, 1U) << pause;
  }
}

TEST(SpikeTest, AfterMoreThanAnHourItIsReportedAgain) {
  SpikeTest test;
  (void)spike_starts(test, 400, 5);
  EXPECT_EQ(spike_starts(test, 10, 400).size(), 1U);
  (void)spike_starts(test, 64 * 60, 5);
  EXPECT_EQ(spike_starts(test, 10, 400).size(), 1U);
}

TEST(SpikeTest, ForADayAfterOneItTakesMore) {
  SpikeTest test;
  (void)spike_starts(test, 400, 20);
  EXPECT_EQ(spike_starts(test, 10, 60).size(), 1U);
  (void)spike_starts(test, 64 * 60, 20);
  EXPECT_TRUE(spike_starts(test, 10, 60).empty());
  (void)spike_starts(test, 64 * 60, 20);
  EXPECT_EQ(spike_starts(test, 10, 61).size(), 1U);
  (void)spike_starts(test, 86'400, 20);
  EXPECT_EQ(spike_starts(test, 10, 60).size(), 1U);
}

TEST(SpikeTest, LastsUntilItHasBeenCalmForAWhile) {
  SpikeTest test;
  (void)spike_starts(test, 400, 10);
  EXPECT_EQ(test.add(200), State::begins);
  EXPECT_EQ(test.add(200), State::lasts);
  int seconds = 0;
  State state = State::lasts;
  while (state == State::lasts && seconds < 100) {
    state = test.add(10);
    ++seconds;
  }
  EXPECT_EQ(state, State::ends);
  EXPECT_EQ(seconds, 2 + static_cast<int>(SpikeTest::calm_seconds));  // two of them are in one window with the last
}

std::vector<LimitTraffic> api(std::uint64_t decisions) {
  return {{"api", {decisions, 0, 0}}};
}

TEST(Spikes, OfALimitHaveItsNameAndLast) {
  Spikes spikes;
  spikes.set_limits(std::vector<std::string>{"api", "idle"});
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(spikes.add_limits(api(20), 1, then).empty());
  const auto found = spikes.add_limits(api(200), 1, then + 1s);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "api");
  ASSERT_TRUE(spikes.lasting("api"));
  EXPECT_EQ(spikes.lasting("api")->since, then + 1s);
  EXPECT_EQ(spikes.counts().at("api").limits, 1U);
  for (int i = 0; i < 20; ++i) (void)spikes.add_limits({}, 1, then);
  EXPECT_FALSE(spikes.lasting("api"));
}

TEST(Spikes, OfALimitThatWasIdleSinceTheStart) {
  Spikes spikes;
  spikes.set_limits(std::vector<std::string>{"api"});
  for (int i = 0; i < 301; ++i) (void)spikes.add_limits({}, 1, then);
  EXPECT_EQ(spikes.add_limits(api(200), 1, then).size(), 1U);
}

TEST(Spikes, LimitThatAReloadBroughtHasItsFirstMinutes) {
  Spikes spikes;
  for (int i = 0; i < 100; ++i) (void)spikes.add_limits({}, 1, then);
  spikes.set_limits(std::vector<std::string>{"api"});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(spikes.add_limits(api(200), 1, then).empty());
}

TEST(Spikes, MachineThatStoodStillIsNone) {
  Spikes spikes;
  spikes.set_limits(std::vector<std::string>{"api"});
  for (int i = 0; i < 400; ++i) (void)spikes.add_limits(api(100), 1, then);
  EXPECT_TRUE(spikes.add_limits(api(1'000), 10, then).empty());
  EXPECT_TRUE(spikes.add_limits(api(100), 1, then).empty());
}

class ConsumerSpikes : public testing::Test {
 protected:
  void deny(std::uint64_t consumer, int times) {
    for (int i = 0; i < times; ++i) {
      denied_.count(limit_, consumer, then, [&](std::string& name) { name = "user:" + std::to_string(consumer); });
    }
  }
  std::vector<Spikes::Spike> second() {
    const TopDenied* const one = &denied_;
    return spikes_.add_consumers({&one, 1}, 1);
  }

  const std::string limit_ = "api";
  TopDenied denied_;
  Spikes spikes_;
};

TEST_F(ConsumerSpikes, NewOneIsReportedByName) {
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(second().empty());
  deny(7, 40);
  const auto found = second();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "api");
  EXPECT_EQ(found[0].from->name_of("api", found[0].consumer), "user:7");
  EXPECT_EQ(spikes_.counts().at("api").consumers, 1U);
}

TEST_F(ConsumerSpikes, OneThatIsAlwaysDeniedIsNotReported) {
  for (int i = 0; i < 400; ++i) {
    deny(7, 50);
    EXPECT_TRUE(second().empty());
  }
  deny(7, 260);
  EXPECT_EQ(second().size(), 1U);
}

TEST_F(ConsumerSpikes, ManyConsumersWithFewDenialsAreNoSpike) {
  for (int i = 0; i < 310; ++i) {
    for (std::uint64_t consumer = 0; consumer < 3'000; ++consumer) deny(consumer, 1);
    EXPECT_TRUE(second().empty());
  }
}

}  // namespace
}  // namespace weir::observe
