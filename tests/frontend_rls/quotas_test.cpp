#include "frontend/rls/quotas.h"

#include <gtest/gtest.h>

#include <map>

namespace weir::frontend::quotas_tests {
namespace {

using namespace std::chrono_literals;
using Kind = QuotaAction::Kind;

constexpr Instant noon{12h};

QuotaTerms under(const std::string& state, std::uint64_t burst = 80, Rate rate = {200, 1s}) {
  return {.admits = true, .limits = {{state, {burst, rate}, Cost{1}}}};
}

// Returns the actions of a stream by bucket.
std::map<std::string, QuotaAction> actions_of(QuotaStream& stream, Instant now,
                                              const QuotaStream::TermsOf& terms_of = {}) {
  std::map<std::string, QuotaAction> all;
  const auto say = [&](std::string_view id, const QuotaAction& action) { all.emplace(id, action); };
  stream.begin_round();
  do stream.collect(now, terms_of, say, 256);
  while (stream.has_more());
  return all;
}

void report(QuotaStream& stream, std::string_view id, const QuotaTerms& terms, Instant now = noon) {
  stream.report(id, 1, [&](std::string_view) { return terms; }, now);
}

TEST(Quotas, StreamsShareALimit) {
  Quotas quotas;
  const auto one = quotas.open();
  const auto other = quotas.open();
  report(*one, "a", under("limit"));
  report(*other, "a", under("limit"));
  EXPECT_EQ(actions_of(*one, noon).at("a").tokens_per_fill, 95U);
  EXPECT_EQ(actions_of(*other, noon).at("a").tokens_per_fill, 53U) << "half of what is left";
  EXPECT_EQ(quotas.figures().streams, 2U);
  EXPECT_EQ(quotas.figures().buckets, 2U);
  EXPECT_EQ(quotas.figures().states, 1U);
  EXPECT_EQ(quotas.figures().assignments, 2U);
}

TEST(Quotas, BucketsOfOneStreamMayShareALimit) {
  Quotas quotas;
  const auto stream = quotas.open();
  report(*stream, "a", under("limit"));
  report(*stream, "b", under("limit"));
  report(*stream, "c", under("other"));
  EXPECT_EQ(actions_of(*stream, noon).size(), 3U);
  EXPECT_EQ(quotas.figures().states, 2U);
}

TEST(Quotas, NodesDivideALimitEvenly) {
  Quotas quotas;
  quotas.set_nodes(4, noon);
  const auto stream = quotas.open();
  report(*stream, "a", under("limit"));
  auto action = actions_of(*stream, noon).at("a");
  EXPECT_EQ(action.max_tokens, 9U);  // this node has a quarter of the burst, 20; about half of it is assigned
  EXPECT_EQ(action.tokens_per_fill, 50U);
  EXPECT_EQ(action.fill_interval, 2s);
  quotas.set_nodes(10, noon + 100ms);
  EXPECT_EQ(actions_of(*stream, noon + 100ms).at("a").kind, Kind::deny_all)
      << "its nine tokens are more than a tenth of 80";
  action = actions_of(*stream, noon + 4s).at("a");
  EXPECT_EQ(action.kind, Kind::token_bucket);
  EXPECT_EQ(action.tokens_per_fill, 50U);
  EXPECT_EQ(action.fill_interval, 5s);
}

TEST(Quotas, WhatIsBeyondTheBoundsIsNotKept) {
  Quotas quotas({}, {.streams = 2, .buckets_of_stream = 3, .buckets = 4, .id_bytes = 10, .states = 3});
  const auto one = quotas.open();
  const auto two = quotas.open();
  EXPECT_EQ(quotas.open(), nullptr);
  for (const char* const id : {"a", "b", "c", "d", "longer than ten bytes"}) report(*one, id, under(id));
  EXPECT_EQ(actions_of(*one, noon).size(), 3U);
  EXPECT_EQ(quotas.figures().refused, 2U);
  report(*two, "e", under("e"));  // too many states
  report(*two, "f", {});
  report(*two, "g", {});
  EXPECT_EQ(actions_of(*two, noon).size(), 1U);
  EXPECT_EQ(quotas.figures().refused, 4U);
  EXPECT_EQ(quotas.figures().buckets, 4U);
}

TEST(Quotas, StreamsThatAreGoneMakeRoom) {
  Quotas quotas({}, {.streams = 1, .buckets_of_stream = 1, .buckets = 1});
  for (int i = 0; i < 3; ++i) {
    const auto stream = quotas.open();
    ASSERT_NE(stream, nullptr);
    report(*stream, "a", {});
    EXPECT_EQ(actions_of(*stream, noon).size(), 1U);
  }
  EXPECT_EQ(quotas.figures().streams, 0U);
  EXPECT_EQ(quotas.figures().buckets, 0U);
}

TEST(Quotas, AbandonedBucketsAreForgotten) {
  Quotas quotas;
  const auto stream = quotas.open();
  report(*stream, "a", {});
  EXPECT_EQ(actions_of(*stream, noon + 60s).at("a").kind, Kind::abandon);
  EXPECT_EQ(quotas.figures().buckets, 0U);
  EXPECT_TRUE(actions_of(*stream, noon + 61s).empty());
}

TEST(Quotas, ALimitIsForgottenWhenItIsAsNewAndNotBefore) {
  Quotas quotas;
  report(*quotas.open(), "a", under("never assigned"));
  {
    const auto stream = quotas.open();
    report(*stream, "a", under("slow", 80, {1, 1min}));
    EXPECT_EQ(actions_of(*stream, noon).at("a").kind, Kind::token_bucket);
  }
  const auto stream = quotas.open();
  static_cast<void>(actions_of(*stream, noon + 20s));
  EXPECT_EQ(quotas.figures().states, 1U);
  static_cast<void>(actions_of(*stream, noon + 1h));
  EXPECT_EQ(quotas.figures().states, 0U);
}

TEST(Quotas, AnotherPolicyChangesWhatBucketsFallUnder) {
  Quotas quotas;
  const auto stream = quotas.open();
  report(*stream, "a", under("limit"));
  report(*stream, "b", under("limit"));
  EXPECT_EQ(actions_of(*stream, noon).size(), 2U);
  stream->rematch();
  const auto all = actions_of(*stream, noon + 100ms, [](std::string_view id) {
    return id == "a" ? under("limit", 80, {20, 1s}) : QuotaTerms{};
  });
  EXPECT_EQ(all.at("b").kind, Kind::allow_all);
  EXPECT_EQ(all.at("a").kind, Kind::token_bucket);
  EXPECT_EQ(all.at("a").fill_interval, 5s);
  stream->rematch();
  const auto denied = [](std::string_view) { return QuotaTerms{.admits = false, .limits = {}}; };
  EXPECT_EQ(actions_of(*stream, noon + 200ms, denied).at("a").kind, Kind::deny_all);
}

}  // namespace
}  // namespace weir::frontend::quotas_tests
