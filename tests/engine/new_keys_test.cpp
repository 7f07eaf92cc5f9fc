// New keys beyond the bound per second share a few keys on a shared store.
#include <gtest/gtest.h>

#include <string>

#include "tests/engine/shared_engine.h"

namespace weir::engine {
namespace {

constexpr auto per_user = R"(
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: fixed_window, rate: 5/day }
)";

Request from_user(const std::string& name) {
  return Request::to("GET /").by(name);
}

// Sends one request from each of `count` new users. Returns how many pass.
int flood(SharedEngine& shared, int count, const std::string& name = "made-up-") {
  int passed = 0;
  for (int i = 0; i < count; ++i) passed += shared.passes(from_user(name + std::to_string(i))) ? 1 : 0;
  return passed;
}

TEST(NewKeys, BeyondTheBoundShareKeysAndAreLimitedAsAWhole) {
  SharedEngine shared(per_user, 10);
  const int passed = flood(shared, 5'000);
  EXPECT_EQ(shared.store.keys("weir:{api:user:"), 10U);
  EXPECT_EQ(shared.store.keys("weir:{api:overflow:api:"), store::NewKeyBound::overflow_keys);
  EXPECT_LE(passed, 10 + 5 * static_cast<int>(store::NewKeyBound::overflow_keys));
  EXPECT_EQ(flood(shared, 5'000, "another-"), 0) << "the shared keys are exhausted";
}

TEST(NewKeys, KnownConsumersKeepTheirOwn) {
  SharedEngine shared(per_user, 10);
  EXPECT_EQ(shared.passing(from_user("alice"), 2), 2);
  flood(shared, 5'000);
  EXPECT_EQ(shared.passing(from_user("alice"), 10), 3) << "the three that were left to her";
  EXPECT_EQ(shared.passing(from_user("bob"), 1), 0) << "he is one of too many";
  shared.at(shared.clock.now() + 1s);
  EXPECT_EQ(shared.passing(from_user("bob"), 10), 5) << "a second later he has a key of his own";
}

TEST(NewKeys, APeekChargesNothingAndAnswersLikeACheck) {
  SharedEngine shared(per_user, 10);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(shared.passes(from_user("look-" + std::to_string(i)).only_looking()));
  }
  EXPECT_EQ(shared.passing(from_user("alice"), 10), 5) << "the bound is not reached";
  flood(shared, 5'000);
  EXPECT_FALSE(shared.passes(from_user("bob").only_looking()));
}

TEST(NewKeys, AReceiptSettlesTheKeyThatWasCharged) {
  SharedEngine shared(per_user, 1);
  EXPECT_TRUE(shared.passes(from_user("alice")));
  const Request request = from_user("bob").costing(5);
  const Asked bob(request);
  const auto reserve = [&] {
    shared.batch->clear();
    shared.batch->add(bob.query(), {.action = ReceiptRequest::Action::reserve});
    EXPECT_TRUE(shared.batch->submit());
    return shared.batch->verdict(0).admitted;
  };
  ASSERT_TRUE(reserve());
  EXPECT_EQ(shared.store.keys("weir:{api:user:3:bob}"), 0U);
  const ReceiptParts receipt = *shared.batch->receipt(0);
  EXPECT_FALSE(reserve()) << "the limit is exceeded";
  shared.at(shared.clock.now() + 1s);  // it would have its own key now
  shared.batch->clear();
  shared.batch->add(receipt, {.action = ReceiptRequest::Action::settle, .actual = Cost{2}});
  EXPECT_TRUE(shared.batch->submit());
  EXPECT_EQ(shared.batch->receipt_outcomes(0)[0].result, core::ReceiptResult::done);
  EXPECT_EQ(shared.batch->receipt_outcomes(0)[0].decision.remaining, 3U);
}

TEST(NewKeys, AReloadKeepsTheBound) {
  SharedEngine shared(per_user, 10);
  flood(shared, 100);
  ASSERT_TRUE(shared.engine->reload(ruleset_of(per_user), shared.clock));
  flood(shared, 100, "another-");
  EXPECT_EQ(shared.store.keys("weir:{api:user:"), 10U);
}

TEST(NewKeys, OfDescriptorsAreBoundedToo) {
  SharedEngine shared(R"(
domain: shop
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 5 } }
)",
                      10);
  for (int i = 0; i < 2'000; ++i) {
    const std::string user = "made-up-" + std::to_string(i);
    const std::vector<DescriptorEntry> entries{{"user", user}};
    DescriptorQuery ask;
    ask.entries = entries;
    static_cast<void>(shared.send("shop", {&ask, 1}));
  }
  EXPECT_LE(shared.store.keys(), 10 + store::NewKeyBound::overflow_keys);
  EXPECT_GT(shared.store.keys(), 10U);
}

TEST(NewKeys, WithoutABoundEachHasItsOwn) {
  SharedEngine shared(per_user);
  EXPECT_EQ(flood(shared, 500), 500);
  EXPECT_EQ(shared.store.keys("weir:{api:user:"), 500U);
}

}  // namespace
}  // namespace weir::engine
