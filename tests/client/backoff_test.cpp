// Backoff with randomness at the ends of its range, so that every wait is known.
#include "weir/backoff.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace weir {
namespace {

using namespace std::chrono_literals;

const Instant now = std::chrono::sys_days{std::chrono::year{1994} / 11 / 6} + 8h + 49min + 37s;

std::uint64_t shortest(std::uint64_t) {
  return 0;
}

std::uint64_t longest(std::uint64_t bound) {
  return bound;
}

Backoff backoff(Backoff::Randomness randomness, Backoff::Options options = {}) {
  return Backoff::create(std::move(randomness), options).value();
}

TEST(Backoff, LongestWaitDoublesFromBaseUpToTheCap) {
  Backoff waits = backoff(longest, {.base = 100ms, .cap = 1s});
  for (const Duration expected : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms, 1000ms}) {
    EXPECT_EQ(waits.next(), expected);
  }
}

TEST(Backoff, ShortestWaitIsAlwaysZero) {
  Backoff waits = backoff(shortest);
  for (int attempt = 0; attempt < 20; ++attempt) EXPECT_EQ(waits.next(), 0s);
}

TEST(Backoff, WaitsAreWhatTheRandomnessDraws) {
  std::vector<std::uint64_t> bounds;
  Backoff waits = backoff(
      [&](std::uint64_t bound) {
        bounds.push_back(bound);
        return bound / 3;
      },
      {.base = 3us, .cap = 12us});
  EXPECT_EQ(waits.next(), 1us);
  EXPECT_EQ(waits.next(), 2us);
  EXPECT_EQ(waits.next(), 4us);
  EXPECT_EQ(waits.next(), 4us);
  EXPECT_EQ(bounds, (std::vector<std::uint64_t>{3, 6, 12, 12}));
}

TEST(Backoff, DefaultsAreATenthOfASecondAndAMinute) {
  Backoff waits = Backoff::create(longest).value();
  EXPECT_EQ(waits.next(), 100ms);
  for (int attempt = 1; attempt < 10; ++attempt) static_cast<void>(waits.next());
  EXPECT_EQ(waits.next(), 60s);
}

TEST(Backoff, NoNumberOfAttemptsOverflows) {
  for (const Duration cap : {Duration{1}, Duration{3}, Duration::max() - 1us, Duration::max()}) {
    Backoff waits = backoff(longest, {.base = 1us, .cap = cap});
    Duration last{};
    for (int attempt = 0; attempt < 200; ++attempt) {
      const Duration wait = waits.next();
      ASSERT_GE(wait, last);
      ASSERT_LE(wait, cap);
      last = wait;
    }
    EXPECT_EQ(last, cap);
  }
}

TEST(Backoff, ResetStartsAtBaseAgain) {
  Backoff waits = backoff(longest);
  static_cast<void>(waits.next());
  EXPECT_EQ(waits.next(), 200ms);
  waits.reset();
  EXPECT_EQ(waits.next(), 100ms);
}

TEST(Backoff, RetryAfterIsAFloorWithTheJitterOnTop) {
  struct Row {
    std::string_view retry_after;
    Duration floor;
  };
  for (const Row& row : {
           Row{"7", 7s},
           Row{"0", 0s},
           Row{"Sun, 06 Nov 1994 08:50:37 GMT", 60s},
           Row{"Sunday, 06-Nov-94 08:50:37 GMT", 60s},
           Row{"Sun Nov  6 08:50:37 1994", 60s},
           Row{"Sun, 06 Nov 1994 08:49:36 GMT", 0s},  // in the past
           Row{"99999999999999999999", 2'147'483'648s},
       }) {
    EXPECT_EQ(backoff(shortest).next(row.retry_after, now), row.floor) << row.retry_after;
    EXPECT_EQ(backoff(longest).next(row.retry_after, now), row.floor + 100ms) << row.retry_after;
  }
}

TEST(Backoff, UnreadableRetryAfterCountsAsAbsent) {
  for (const std::string_view field : {"", "soon", "-5", "1.5", "Sun, 06 Nov 1994 08:49:37"}) {
    EXPECT_EQ(backoff(shortest).next(field, now), 0s) << field;
    EXPECT_EQ(backoff(longest).next(field, now), 100ms) << field;
  }
}

TEST(Backoff, RetryAfterCountsAsAnAttempt) {
  Backoff waits = backoff(longest);
  EXPECT_EQ(waits.next("7", now), 7s + 100ms);
  EXPECT_EQ(waits.next("7", now), 7s + 200ms);
  EXPECT_EQ(waits.next(), 400ms);
}

TEST(Backoff, RetryAfterOnTopOfTheLongestCapDoesNotOverflow) {
  Backoff waits = backoff(longest, {.base = Duration::max(), .cap = Duration::max()});
  EXPECT_EQ(waits.next("5", now), Duration::max());
}

TEST(Backoff, RandomnessThatOvershootsIsHeldToItsBound) {
  Backoff waits = backoff([](std::uint64_t) { return std::numeric_limits<std::uint64_t>::max(); });
  EXPECT_EQ(waits.next(), 100ms);
  EXPECT_EQ(waits.next("1", now), 1s + 200ms);
}

TEST(Backoff, WrongOptionsAreRejectedByName) {
  struct Row {
    Backoff::Randomness randomness;
    Backoff::Options options;
    std::string message;
  };
  const std::vector<Row> rows{
      {{}, {}, "randomness: is empty: pass a function that returns a number from 0 to its bound"},
      {longest, {.base = 0us, .cap = 60s}, "base: 0 us is not positive: must be at least 1 us"},
      {longest, {.base = -1us, .cap = 60s}, "base: -1 us is not positive: must be at least 1 us"},
      {longest, {.base = 2us, .cap = 1us}, "cap: 1 us is too short: at least base, 2 us"},
  };
  for (const Row& row : rows) {
    const auto refused = Backoff::create(row.randomness, row.options);
    ASSERT_FALSE(refused) << row.message;
    EXPECT_EQ(refused.error().message(), row.message);
  }
  EXPECT_TRUE(Backoff::create(longest, {.base = 1us, .cap = 1us}));
}

}  // namespace
}  // namespace weir
