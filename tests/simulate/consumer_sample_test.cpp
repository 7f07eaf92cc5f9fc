#include "simulate/consumer_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace weir::simulate {
namespace {

struct Counter {
  std::uint64_t count = 0;
};

void count_one(ConsumerSample<Counter>& sample, std::uint64_t consumer) {
  if (Counter* const counter = sample.find(consumer)) ++counter->count;
}

TEST(ConsumerSample, KeepsAllConsumersThatFit) {
  ConsumerSample<Counter> sample(1000);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> consumers(1000);
  std::ranges::generate(consumers, random);
  for (int round = 0; round < 3; ++round) {
    for (const std::uint64_t consumer : consumers) count_one(sample, consumer);
  }
  EXPECT_EQ(sample.size(), 1000U);
  EXPECT_EQ(sample.one_in(), 1U);
  sample.for_each([](const Counter& counter) { EXPECT_EQ(counter.count, 3U); });
}

TEST(ConsumerSample, HashesOfZeroAndOfAllOnesAreConsumers) {
  ConsumerSample<Counter> sample(10);
  count_one(sample, 0);
  count_one(sample, ~std::uint64_t{0});
  EXPECT_EQ(sample.size(), 2U);
}

TEST(ConsumerSample, BeyondTheBoundEverySampledConsumerIsSampledFromItsFirstRequest) {
  ConsumerSample<Counter> sample(1000);
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> consumers(50'000);
  std::ranges::generate(consumers, random);
  for (int round = 0; round < 2; ++round) {
    for (const std::uint64_t consumer : consumers) count_one(sample, consumer);
  }
  EXPECT_LE(sample.size(), 1000U);
  EXPECT_EQ(sample.one_in(), 64U);
  sample.for_each([](const Counter& counter) { EXPECT_EQ(counter.count, 2U); });
}

// A third of the consumers send ten times as many requests; the sample must not prefer them.
TEST(ConsumerSample, BusyConsumersAreNotSampledMoreOften) {
  ConsumerSample<Counter> sample(2000);
  std::mt19937_64 random(3);
  for (int i = 0; i < 60'000; ++i) {
    const std::uint64_t consumer = random();
    for (int request = 0; request < (i % 3 == 0 ? 10 : 1); ++request) count_one(sample, consumer);
  }
  double busy = 0;
  sample.for_each([&](const Counter& counter) { busy += counter.count == 10 ? 1 : 0; });
  const auto size = static_cast<double>(sample.size());
  EXPECT_GT(size, 800);
  EXPECT_NEAR(busy / size, 1.0 / 3, 0.06);
}

}  // namespace
}  // namespace weir::simulate
