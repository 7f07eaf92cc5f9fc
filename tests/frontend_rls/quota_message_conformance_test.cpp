// Compares our reading of reports and writing of actions with Google's library and Envoy's names.
#include <envoy/service/rate_limit_quota/v3/rlqs.pb.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "wire/rlqs.h"

namespace weir::wire::rlqs::conformance {
namespace {

using namespace std::chrono_literals;
namespace stock = envoy::service::rate_limit_quota::v3;

using Bucket = std::map<std::string, std::string>;

Bucket of(const stock::BucketId& id) {
  return {id.bucket().begin(), id.bucket().end()};
}

RC_GTEST_PROP(QuotaMessages, ReportsReadAsTheyWereWritten,
              (const std::vector<std::pair<Bucket, std::pair<std::uint64_t, std::uint64_t>>>& buckets)) {
  stock::RateLimitQuotaUsageReports theirs;
  theirs.set_domain("edge");
  for (const auto& [bucket, counts] : buckets) {
    auto* const usage = theirs.add_bucket_quota_usages();
    for (const auto& [key, value] : bucket) (*usage->mutable_bucket_id()->mutable_bucket())[key] = value;
    usage->mutable_time_elapsed()->set_seconds(5);
    usage->set_num_requests_allowed(counts.first);
    usage->set_num_requests_denied(counts.second);
  }
  const std::string bytes = theirs.SerializePartialAsString();
  UsageReports ours;
  RC_ASSERT(ours.read(bytes));
  RC_ASSERT(ours.domain() == "edge");
  RC_ASSERT(ours.usages().size() == buckets.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Usage& usage = ours.usages()[i];
    Bucket bucket;
    for (const Entry& entry : ours.entries_of(usage)) bucket.emplace(entry.key, entry.value);
    RC_ASSERT(bucket == buckets[i].first);
    RC_ASSERT(usage.allowed == buckets[i].second.first);
    RC_ASSERT(usage.denied == buckets[i].second.second);
  }
}

TEST(QuotaMessages, ActionsReadAsTheyWereWritten) {
  std::string id;
  append_id(id, std::vector<Entry>{{"path", "/a"}, {"user", "alice"}});
  std::string bytes;
  QuotaResponse response(bytes);
  response.allow_all(id, 2s);
  response.deny_all(id, 30s);
  response.assign(id, 4s, {.max_tokens = 300, .tokens_per_fill = 7, .fill_interval = 6'000s});
  response.abandon(id);

  stock::RateLimitQuotaResponse theirs;
  ASSERT_TRUE(theirs.ParseFromString(bytes));
  ASSERT_EQ(theirs.bucket_action_size(), 4);
  for (const auto& action : theirs.bucket_action()) {
    EXPECT_EQ(of(action.bucket_id()), (Bucket{{"path", "/a"}, {"user", "alice"}}));
  }
  using Strategy = envoy::type::v3::RateLimitStrategy;
  const auto& allowed = theirs.bucket_action(0).quota_assignment_action();
  EXPECT_EQ(allowed.rate_limit_strategy().strategy_case(), Strategy::kBlanketRule);
  EXPECT_EQ(allowed.rate_limit_strategy().blanket_rule(), Strategy::ALLOW_ALL);
  EXPECT_EQ(allowed.assignment_time_to_live().seconds(), 2);
  const auto& denied = theirs.bucket_action(1).quota_assignment_action();
  EXPECT_EQ(denied.rate_limit_strategy().blanket_rule(), Strategy::DENY_ALL);
  EXPECT_EQ(denied.assignment_time_to_live().seconds(), 30);
  const auto& assigned = theirs.bucket_action(2).quota_assignment_action().rate_limit_strategy().token_bucket();
  EXPECT_EQ(assigned.max_tokens(), 300U);
  EXPECT_EQ(assigned.tokens_per_fill().value(), 7U);
  EXPECT_EQ(assigned.fill_interval().seconds(), 6'000);
  EXPECT_EQ(assigned.fill_interval().nanos(), 6'000) << "Envoy does not compare the seconds, and cuts these off";
  EXPECT_TRUE(theirs.bucket_action(3).has_abandon_action());
}

}  // namespace
}  // namespace weir::wire::rlqs::conformance
