// Backoff, for any options, any randomness and any number of attempts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>

#include "weir/backoff.h"

namespace weir {
namespace {

Backoff::Randomness uniform() {
  return [source = std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>())](std::uint64_t bound) mutable {
    return std::uniform_int_distribution<std::uint64_t>(0, bound)(source);
  };
}

// base x 2^attempt, at most cap, in numbers that cannot overflow.
Duration bound_of(Backoff::Options options, int attempt) {
  __extension__ using Wide = __int128;
  Wide bound = options.base.count();
  for (int i = 0; i < attempt && bound < options.cap.count(); ++i) bound *= 2;
  return Duration{static_cast<Duration::rep>(std::min<Wide>(bound, options.cap.count()))};
}

RC_GTEST_PROP(BackoffProperty, EveryWaitIsBetweenTheFloorAndItsBoundOnTop, ()) {
  const auto longest = std::numeric_limits<Duration::rep>::max() / 2;
  const auto max_base = *rc::gen::elementOf(std::array{Duration::rep{1000}, longest});
  const Duration base{*rc::gen::inRange<Duration::rep>(1, max_base)};
  const Duration cap{*rc::gen::inRange<Duration::rep>(base.count(), longest)};
  Backoff waits = Backoff::create(uniform(), {.base = base, .cap = cap}).value();
  const int attempts = *rc::gen::inRange(1, 100);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto seconds = *rc::gen::inRange(0, 100'000);
    const bool asked = *rc::gen::arbitrary<bool>();
    const Duration floor = asked ? std::chrono::seconds{seconds} : Duration::zero();
    const Duration wait = asked ? waits.next(std::to_string(seconds), Instant{}) : waits.next();
    RC_ASSERT(wait >= floor);
    RC_ASSERT(wait - floor <= bound_of({.base = base, .cap = cap}, attempt));
  }
}

// A thousand draws into ten equal parts: each part is hit, and none dominates.
TEST(BackoffProperty, JitterFillsTheWholeRangeEvenly) {
  const Duration bound = std::chrono::seconds{1};
  std::mt19937_64 source(7);
  auto waits =
      Backoff::create([&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(source); },
                      {.base = bound, .cap = bound})
          .value();
  std::array<int, 10> parts{};
  for (int i = 0; i < 1000; ++i) {
    const auto part = static_cast<std::size_t>(waits.next() * 10 / (bound + Duration{1}));
    ++parts.at(part);
  }
  for (const int hits : parts) {
    EXPECT_GT(hits, 60);
    EXPECT_LT(hits, 140);
  }
}

}  // namespace
}  // namespace weir
