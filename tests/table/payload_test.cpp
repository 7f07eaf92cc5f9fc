#include "table/packing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace weir::table {
namespace {

constexpr std::int64_t year = std::chrono::microseconds{std::chrono::days{365}}.count();
constexpr std::int64_t today = 56 * year;

TEST(NarrowPayload, ReadsBackTimeAndRemainderInEveryEra) {
  for (const std::int64_t now : {-200 * year, -1L, 0L, 1L, today, 156 * year, 5000 * year}) {
    for (const std::int64_t ahead : {-50 * year, -1L, 0L, 1L, 60'000'000L, 19 * year}) {
      const NarrowPayload payload(now + ahead, 8191);
      EXPECT_EQ(payload.time(now), now + ahead) << now << " + " << ahead;
      EXPECT_EQ(payload.small(), 8191U);
    }
  }
}

TEST(NarrowPayload, IsDeadFromItsTimeOnUnlessARemainderIsLeft) {
  EXPECT_FALSE(NarrowPayload(today, 0).dead(today - 1));
  EXPECT_TRUE(NarrowPayload(today, 0).dead(today));
  EXPECT_FALSE(NarrowPayload(today, 1).dead(today));
  EXPECT_TRUE(NarrowPayload(today, 1).dead(today + 1));
}

TEST(NarrowPayload, OfAConsumerIdleForHalfACenturyIsDead) {
  EXPECT_TRUE(NarrowPayload(today, 5).dead(today + 50 * year));
}

TEST(Payload, OfZeroBytesIsDeadAtAnyTime) {
  for (const std::int64_t now : {-today, 0L, today}) {
    EXPECT_TRUE(NarrowPayload{}.dead(now));
    EXPECT_TRUE(WidePayload{}.dead(now));
    EXPECT_TRUE(LogPayload{}.dead(now));
  }
}

TEST(WidePayload, IsDeadFromItsTimeOnUnlessARemainderIsLeft) {
  EXPECT_FALSE((WidePayload{today, 0, 0}).dead(today - 1));
  EXPECT_TRUE((WidePayload{today, 0, 0}).dead(today));
  EXPECT_FALSE((WidePayload{today, 1, 0}).dead(today));
  EXPECT_TRUE((WidePayload{today, 1, 1}).dead(today + 1));
}

}  // namespace
}  // namespace weir::table
