// The table of CL.THROTTLE answers like redis-cell, to the microsecond, whatever numbers each call has.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "store/local/throttle_table.h"
#include "tests/store/throttle_oracle.h"

namespace weir::store {
namespace {

std::int64_t any(std::int64_t low, std::int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(low, high + 1));
}

BucketNumbers any_numbers() {
  const auto count = static_cast<std::uint64_t>(any(0, 2) == 0 ? any(1, 5'000'000) : any(1, 60));
  return {{count, Duration{any(0, 1) == 0 ? any(1, 200) : any(1, 60) * 1'000'000}},
          static_cast<std::uint64_t>(any(1, 20))};
}

// Numbers that a narrow cell stores exactly.
BucketNumbers any_narrow_numbers() {
  return {{static_cast<std::uint64_t>(any(1, any(0, 1) == 0 ? 8'192 : 60)), Duration{any(1, 20'000)}},
          static_cast<std::uint64_t>(any(1, 20))};
}

void expect_answers_of_redis_cell(const std::vector<BucketNumbers>& numbers) {
  const auto table = *ThrottleTable::create(std::size_t{4} << 20, {3, 4});
  ThrottleOracle oracle;
  Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};
  for (std::int64_t steps = any(1, 60); steps > 0; --steps) {
    const std::string key = std::to_string(any(0, 2));
    const BucketNumbers& chosen = numbers[static_cast<std::size_t>(any(0, 2))];
    const auto quantity = static_cast<std::uint64_t>(any(0, 8));
    now += Duration{any(0, 1) == 0 ? any(0, 20) : any(0, chosen.rate.per.count() * 2)};
    const core::Gcra::Limit limit(Limit::gcra(chosen).value());
    const Decision decision = table->decide(limit, table->seek(key), Cost{quantity}, now);
    RC_ASSERT(answer_of(decision) == oracle.ask(key, chosen, quantity, now));
  }
}

RC_GTEST_PROP(ThrottleTable, AnswersAsRedisCellDoesUnderChangingNumbers, ()) {
  expect_answers_of_redis_cell({any_numbers(), any_numbers(), any_numbers()});
}

RC_GTEST_PROP(ThrottleTable, AnswersAsRedisCellDoesInNarrowCells, ()) {
  expect_answers_of_redis_cell({any_narrow_numbers(), any_narrow_numbers(), any_narrow_numbers()});
}

// 8,192-ths lose nothing, so nothing drifts: after each charge a cell has another remainder, and the next decision
// equals that of the core on an exact state.
RC_GTEST_PROP(ThrottleTable, RemaindersComeBackAsTheyWere, ()) {
  const std::int64_t n = any(1, 8'192);
  const core::Gcra::Limit limit(
      Limit::gcra({{static_cast<std::uint64_t>(n), Duration{n * 100 + 1}}, 1'000'000}).value());
  RC_ASSERT(limit.count == n);
  const auto table = *ThrottleTable::create(std::size_t{4} << 20, {3, 4});
  core::Gcra::State exact;
  const Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};
  for (int i = 0; i < 40; ++i) {
    const Cost cost{static_cast<std::uint64_t>(any(1, n))};
    RC_ASSERT(table->decide(limit, table->seek("key"), cost, now) == core::Gcra::decide(limit, exact, cost, now));
  }
}

}  // namespace
}  // namespace weir::store
