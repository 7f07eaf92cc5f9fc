// The figures of tables and consumers.
#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

class FiguresTest : public EngineTest {
 protected:
  void send_from_many(int consumers) {
    for (int i = 0; i < consumers; ++i) {
      std::ignore = send(Request::to("GET /").by("user-" + std::to_string(i)));
    }
  }
};

bool is_near(std::uint64_t estimate, double truth) {
  return std::abs(static_cast<double>(estimate) - truth) <= 0.1 * truth;
}

TEST_F(FiguresTest, TablesTellTheirBytesBudgetAndEntries) {
  load(
      "{version: 1, limits: [{name: a, consumer_key: user, algorithm: token_bucket, rate: 1/min, burst: 1, "
      "candidate: {rate: 2/min}}]}");
  send_from_many(20'000);
  const auto figures = engine_->table_figures(now_);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].id.purpose, store::Purpose::live);
  EXPECT_EQ(figures[1].id.purpose, store::Purpose::candidate);
  for (const auto& table : figures) {
    EXPECT_EQ(table.id.limit, "a");
    EXPECT_EQ(table.budget, std::size_t{32} << 20);
    EXPECT_GT(table.bytes, 20'000U * 16);
    EXPECT_LT(table.bytes, table.budget);
    EXPECT_EQ(table.overflowed, 0U);
    EXPECT_TRUE(is_near(table.entries, 20'000)) << table.entries;
  }
  advance(1h);
  EXPECT_EQ(engine_->table_figures(now_)[0].entries, 0U) << "all are as good as never seen";
}

TEST_F(FiguresTest, LimitsTellHowManyConsumersTheySawAndACandidateTreatsDifferently) {
  load(
      "{version: 1, limits: [{name: a, consumer_key: user, algorithm: fixed_window, rate: 2/day, "
      "candidate: {rate: 1/day}}]}");
  send_from_many(3'000);
  send_from_many(1'000);
  const auto figures = engine_->limit_figures(now_);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].limit, "a");
  EXPECT_TRUE(is_near(figures[0].distinct_consumers, 3'000)) << figures[0].distinct_consumers;
  EXPECT_TRUE(is_near(figures[0].newly_denied_consumers, 1'000)) << figures[0].newly_denied_consumers;
  EXPECT_EQ(figures[0].newly_admitted_consumers, 0U);
}

}  // namespace
}  // namespace weir::engine
