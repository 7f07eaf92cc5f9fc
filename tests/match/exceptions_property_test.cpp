#include "match/exceptions.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>

namespace weir::match {
namespace {

// The table against a map, over any sequence of changes.
TEST(ReplacementTable, HoldsWhatAMapHolds) {
  EXPECT_TRUE(rc::check([] {
    ReplacementTable table;
    std::map<std::string, ExceptionNumber> expected;
    const auto steps = *rc::gen::container<std::vector<std::pair<std::uint8_t, bool>>>(
        rc::gen::pair(rc::gen::arbitrary<std::uint8_t>(), rc::gen::arbitrary<bool>()));
    ExceptionNumber number = 0;
    for (const auto& [which, sets] : steps) {
      const std::string key = "user-" + std::string(which % 40, 'x') + std::to_string(which);
      if (sets) {
        table.set(key, {.replacement = nullptr, .expires_at = {}, .number = ++number});
        expected[key] = number;
      } else {
        RC_ASSERT(table.erase(key) == (expected.erase(key) > 0));
      }
      RC_ASSERT(table.size() == expected.size());
    }
    for (int which = 0; which < 256; ++which) {
      const std::string key = "user-" + std::string(static_cast<std::size_t>(which % 40), 'x') + std::to_string(which);
      const ReplacementTable::Entry* const found = table.find(key);
      const auto known = expected.find(key);
      RC_ASSERT((found != nullptr) == (known != expected.end()));
      if (found != nullptr) RC_ASSERT(found->number == known->second);
    }
    std::size_t seen = 0;
    table.for_each([&](const ReplacementTable::Entry&) { ++seen; });
    RC_ASSERT(seen == expected.size());
  }));
}

TEST(ReplacementTable, TakesAtMostHundredBytesForAConsumerOfTenLetters) {
  ReplacementTable table;
  constexpr int consumers = 100'000;
  for (int i = 0; i < consumers; ++i) {
    const std::string key = std::string(5, '\0') + "user" + std::to_string(100'000 + i);
    table.set(key, {.replacement = nullptr, .expires_at = {}, .number = 1});
  }
  EXPECT_LT(table.bytes() / consumers, 100U);
}

}  // namespace
}  // namespace weir::match
