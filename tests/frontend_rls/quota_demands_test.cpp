#include "frontend/rls/quota_demands.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace weir::frontend::quota_demands_tests {
namespace {

using Demand = QuotaDemands::Demand;

// Returns the prefix before the first demand of at least `units`.
QuotaDemands::Prefix below(const QuotaDemands& demands, std::uint64_t units) {
  return demands.before_first([&](std::uint64_t each, const auto&) { return each >= units; });
}

RC_GTEST_PROP(QuotaDemands, RanksAndSumsAreThoseOfASortedList,
              (const std::vector<std::pair<std::uint8_t, bool>>& ops)) {
  QuotaDemands demands;
  std::set<Demand> sorted;
  std::uint64_t holder = 0;
  for (const auto& [units, is_erased] : ops) {
    if (is_erased && !sorted.empty()) {
      auto at = sorted.lower_bound({units, 0});
      if (at == sorted.end()) at = sorted.begin();
      demands.erase(*at);
      sorted.erase(at);
    } else {
      demands.insert({units, holder});
      sorted.insert({units, holder++});
    }
  }
  RC_ASSERT(demands.count() == sorted.size());
  QuotaDemands::Prefix before;
  for (const Demand& demand : sorted) {
    RC_ASSERT(demands.rank(demand) == before.count);
    ++before.count;
    before.sum += demand.units;
  }
  RC_ASSERT(demands.sum() == before.sum);
  for (const std::uint64_t units : std::vector<std::uint64_t>{0, 1, 7, 100, 255, 256}) {
    QuotaDemands::Prefix expected;
    for (const Demand& demand : sorted) {
      if (demand.units >= units) break;
      ++expected.count;
      expected.sum += demand.units;
    }
    RC_ASSERT(below(demands, units).count == expected.count);
    RC_ASSERT(below(demands, units).sum == expected.sum);
  }
}

// In every order, because clients choose it.
TEST(QuotaDemands, ACallVisitsALogarithmOfThem) {
  constexpr std::uint64_t count = 16'384;
  constexpr std::uint64_t max_visited = 5 * 14 / 2;  // 2.5 log2 n
  const auto ascending = [](std::uint64_t i) { return i; };
  const auto descending = [](std::uint64_t i) { return count - i; };
  const auto alternating = [](std::uint64_t i) { return i % 2 == 0 ? i : 2 * count - i; };
  const auto equal = [](std::uint64_t) { return std::uint64_t{7}; };
  for (const auto& units_of :
       std::vector<std::function<std::uint64_t(std::uint64_t)>>{ascending, descending, alternating, equal}) {
    QuotaDemands demands;
    const auto visits = [&](const auto& call) {
      const std::uint64_t before = demands.visited();
      call();
      return demands.visited() - before;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_LE(visits([&] { demands.insert({units_of(i), i}); }), max_visited);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_LE(visits([&] { static_cast<void>(demands.rank({units_of(i), i})); }), max_visited);
      ASSERT_LE(visits([&] { static_cast<void>(below(demands, units_of(i))); }), max_visited);
    }
    for (std::uint64_t i = 0; i < count; ++i) {  // first one half, then the other
      const std::uint64_t holder = i < count / 2 ? 2 * i : 2 * (i - count / 2) + 1;
      ASSERT_LE(visits([&] { demands.erase({units_of(holder), holder}); }), max_visited);
    }
    EXPECT_EQ(demands.count(), 0U);
  }
}

}  // namespace
}  // namespace weir::frontend::quota_demands_tests
