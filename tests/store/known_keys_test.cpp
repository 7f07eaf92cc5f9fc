#include "store/known_keys.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

namespace weir::store {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{12h};

// Hashes are uniform, like those of a table.
table::KeyHash consumer(std::uint64_t number) {
  return {number * 0x9E3779B97F4A7C15U};
}

TEST(KnownKeys, RememberAsManyAsTheirCapacityAndForgetTheOldest) {
  KnownKeys keys(1'000);
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    keys.remember(consumer(key).value);
    for (std::uint64_t back = 0; back < 900 && back <= key; back += 100) {
      ASSERT_TRUE(keys.knows(consumer(key - back).value)) << key << " " << back;
    }
  }
  std::size_t known = 0;
  for (std::uint64_t key = 0; key < 7'000; ++key) known += keys.knows(consumer(key).value) ? 1U : 0U;
  EXPECT_LT(known, 7'000U / 50);
}

TEST(KnownKeys, TakeFewNewOnesForKnown) {
  KnownKeys keys(100'000);
  for (std::uint64_t key = 0; key < 199'000; ++key) keys.remember(consumer(key).value);
  std::size_t mistaken = 0;
  for (std::uint64_t key = 1'000'000; key < 1'100'000; ++key) mistaken += keys.knows(consumer(key).value) ? 1U : 0U;
  EXPECT_LT(mistaken, 2'000U) << "one in fifty";
}

TEST(KnownKeys, TakeFourBytesForEachKeyOfTheirCapacity) {
  EXPECT_EQ(KnownKeys(KnownKeys::default_capacity).bytes(), std::size_t{16} << 20);
}

TEST(NewKeyBound, AdmitsSoManyNewOnesInASecondAndKnownOnesAlways) {
  NewKeyBound bound(std::make_shared<KnownKeys>(100'000), "api", 10);
  std::uint64_t admitted = 0;
  for (std::uint64_t key = 0; key < 1'000; ++key) admitted += bound.admit(consumer(key), noon) ? 1U : 0U;
  EXPECT_EQ(admitted, 10U);
  EXPECT_EQ(bound.beyond(), 990U);
  for (std::uint64_t key = 0; key < 10; ++key) EXPECT_TRUE(bound.admit(consumer(key), noon + 500ms));
  EXPECT_FALSE(bound.admit(consumer(500), noon + 999ms));
  EXPECT_FALSE(bound.would_admit(consumer(500), noon + 999ms));
  EXPECT_TRUE(bound.would_admit(consumer(500), noon + 1s)) << "which takes nothing";
  EXPECT_TRUE(bound.admit(consumer(500), noon + 1s));
  for (std::uint64_t key = 2'000; key < 2'009; ++key) EXPECT_TRUE(bound.admit(consumer(key), noon + 1s));
  EXPECT_FALSE(bound.admit(consumer(2'009), noon + 1s));
  EXPECT_FALSE(bound.admit(consumer(2'009), noon)) << "a clock that goes back gives nothing";
}

TEST(NewKeyBound, LimitsHaveTheirOwnKeysAndTheirOwnBound) {
  const auto known = std::make_shared<KnownKeys>(100'000);
  NewKeyBound one(known, "one", 1);
  NewKeyBound other(known, "other", 1);
  EXPECT_TRUE(one.admit(consumer(1), noon));
  EXPECT_FALSE(one.admit(consumer(2), noon));
  EXPECT_TRUE(other.admit(consumer(2), noon));
  EXPECT_FALSE(other.admit(consumer(1), noon)) << "it is known of the other limit only";
}

TEST(NewKeyBound, WhatIsBeyondItSharesAFewKeysOfItsLimit) {
  const NewKeyBound bound(std::make_shared<KnownKeys>(1'000), "api", 1);
  std::set<std::string> texts;
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    std::string text;
    bound.write_overflow(consumer(key), text);
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), NewKeyBound::overflow_keys);
  EXPECT_TRUE(texts.contains("overflow:api:0"));
}

}  // namespace
}  // namespace weir::store
