// The numbers of an override, on every store: they apply to the usage as it stands, and to one consumer.
#include "match/exceptions.h"

#include "match/named.h"
#include "tests/engine/store_fixture.h"

namespace weir::engine {
namespace {

class ExceptionsTest : public StoreTest {
 protected:
  void SetUp() override {
    load(R"(
version: 1
limits:
  - { name: bucket, routes: [/bucket], consumer_key: user, algorithm: token_bucket, rate: 2/h }
  - { name: window, routes: [/window], consumer_key: user, algorithm: fixed_window, rate: 2/h }
  - { name: log, routes: [/log], consumer_key: user, algorithm: sliding_window_log, rate: 2/h }
  - { name: counter, routes: [/counter], consumer_key: user, algorithm: sliding_window_counter, rate: 2/h }
)");
  }

  // Replaces the numbers of alice. Unset: they are those of the limit again.
  void replace(std::string_view limit, const std::optional<Limit>& numbers) {
    std::string key;
    const auto named = match::read_named(bindings().matcher(), {.limit = limit, .consumer = "user=alice"}, key);
    ASSERT_TRUE(named) << named.error().message();
    auto exceptions = std::make_unique<match::Exceptions>();
    if (numbers) {
      auto replacement = std::make_shared<match::Replacement>();
      match::Replacement::Tier& tier = replacement->tiers.emplace_back();
      tier.numbers = *numbers;
      tier.rule = core::compile(*numbers);
      core::bound_reach(tier.rule, core::time_to_fill(*numbers));
      exceptions->make(named->limit).overrides.set(key, {replacement, Instant::max(), 7});
    }
    const auto done = engine_->reload(bindings().matcher().shared_ruleset(), SetClock(now_), std::move(exceptions));
    ASSERT_TRUE(done) << done.error().message();
  }

  static Request of(const std::string& user, const std::string& limit) { return Request::to("GET /" + limit).by(user); }
};
INSTANTIATE_TEST_SUITE_P(Stores, ExceptionsTest, answering_stores, store_name);

// A shared store clamps a state with each decision. In this process overrides::Service does it, once (tests/overrides).
class SharedExceptionsTest : public ExceptionsTest {};
INSTANTIATE_TEST_SUITE_P(Stores, SharedExceptionsTest, testing::Values(Where::memory, Where::redis, Where::outage_up),
                         store_name);

TEST_P(ExceptionsTest, OverridesApplyToTheUsageAsItStands) {
  struct Row {
    std::string limit;
    Limit numbers;
    int at_once;  // requests that pass right after the override is set
  };
  const std::vector<Row> rows{{"bucket", Limit::token_bucket({{5, 1h}, 5}).value(), 0},
                              {"window", Limit::fixed_window({5, 1h}).value(), 3},
                              {"log", Limit::sliding_window_log({5, 1h}).value(), 3},
                              {"counter", Limit::sliding_window_counter({5, 1h}).value(), 3}};
  for (const Row& row : rows) {
    EXPECT_EQ(passing(of("alice", row.limit), 9), 2) << row.limit;
    replace(row.limit, row.numbers);
    EXPECT_EQ(passing(of("alice", row.limit), 9), row.at_once) << row.limit;
    EXPECT_EQ(send(of("alice", row.limit)).decision.limit, 5U) << row.limit;
    EXPECT_EQ(passing(of("bob", row.limit), 9), 2) << row.limit;
    replace(row.limit, std::nullopt);
    EXPECT_EQ(passing(of("alice", row.limit), 9), 0) << row.limit;
    EXPECT_EQ(send(of("alice", row.limit)).decision.limit, 2U) << row.limit;
  }
}

TEST_P(SharedExceptionsTest, AFasterOverrideTakesEffectAtOnceForABucketThatIsFarAhead) {
  EXPECT_EQ(passing(of("alice", "bucket"), 9), 2);
  replace("bucket", Limit::token_bucket({{60, 1min}, 60}).value());
  EXPECT_EQ(passing(of("alice", "bucket"), 9), 0);
  advance(3s);
  EXPECT_EQ(passing(of("alice", "bucket"), 9), 3);
}

TEST_P(ExceptionsTest, CountBlockedRequestsAndDecisionsByOverrides) {
  replace("window", Limit::fixed_window({5, 1h}).value());
  engine_->change_exceptions([](match::Exceptions& exceptions) {
    exceptions.blocks().set(match::BlockedIdentity::parse("user=mallory").value(),
                            {.number = 9, .expires_at = Instant::max()});
  });
  EXPECT_EQ(passing(of("alice", "window"), 9), 5);
  EXPECT_EQ(send(of("mallory", "window")).exception, 9U);
  EXPECT_EQ(engine_->totals().overridden, 9U);
  EXPECT_EQ(engine_->totals().blocked, 1U);
}

}  // namespace
}  // namespace weir::engine
