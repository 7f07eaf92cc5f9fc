// The table of CL.THROTTLE answers as redis-cell does, to the microsecond, whatever numbers each call brings.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

RC_GTEST_PROP(ThrottleTable, AnswersAsRedisCellDoesUnderChangingNumbers, ()) {
  const auto table = *ThrottleTable::create(std::size_t{4} << 20, {3, 4});
  ThrottleOracle oracle;
  const std::vector<BucketNumbers> numbers = {any_numbers(), any_numbers(), any_numbers()};
  Instant now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5}};
  for (std::int64_t steps = any(1, 60); steps > 0; --steps) {
    const std::string key = std::to_string(any(0, 2));
    const BucketNumbers& chosen = numbers[static_cast<std::size_t>(any(0, 2))];
    const auto quantity = static_cast<std::uint64_t>(any(0, 8));
    now += Duration{any(0, 1) == 0 ? any(0, 20) : any(0, chosen.rate.per.count() * 2)};
    const core::Gcra::Limit limit(Limit::gcra(chosen).value());
    const Decision decision = table->decide(limit, table->hash(key), Cost{quantity}, now);
    RC_ASSERT(answer_of(decision) == oracle.ask(key, chosen, quantity, now));
  }
}

}  // namespace
}  // namespace weir::store
