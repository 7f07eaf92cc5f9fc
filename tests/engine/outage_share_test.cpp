#include "engine/outage_share.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::engine {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s
using policy::OnStoreFailure;

const Limit bucket = Limit::token_bucket({{100, Duration(1min)}, 20}).value();
const Limit three_per_hour = Limit::fixed_window({3, Duration(1h)}).value();

TEST(OutageShare, IsTheLimitDividedByTheNodes) {
  const policy::CompiledLimit limit;
  EXPECT_EQ(outage_share(limit, bucket, 0, 4), Limit::token_bucket({{25, Duration(1min)}, 5}).value());
  EXPECT_EQ(outage_share(limit, bucket, 0, 1).capacity(), 10U) << "at most a half";
}

TEST(OutageShare, IsWhatThePolicyNames) {
  policy::CompiledLimit limit;
  limit.local_share = 750'000;
  EXPECT_EQ(outage_share(limit, bucket, 0, 4).capacity(), 15U);
}

TEST(OutageShare, IsAtLeastTheLargestCost) {
  policy::CompiledLimit limit;
  limit.cost.fixed = Cost{2};
  limit.cost.by_route.push_back({policy::RouteTemplate{}, Cost{12}});
  EXPECT_EQ(max_cost(limit.cost, 0), Cost{12});
  EXPECT_EQ(outage_share(limit, bucket, 0, 4).capacity(), 12U);
}

TEST(OutageShare, TextDescribesTheShare) {
  policy::CompiledLimit limit;
  EXPECT_EQ(outage_text(limit, bucket, 0, 4), "each of 4 nodes admits 5 of 20, at 1/4 of the rate");
  EXPECT_EQ(outage_text(limit, bucket, 0, 1), "the node admits 10 of 20, at 1/2 of the rate");
  EXPECT_EQ(outage_text(limit, three_per_hour, 0, 3), "each of 3 nodes admits 1 of 3");
  EXPECT_EQ(outage_text(limit, three_per_hour, 0, 4),
            "each of 4 nodes admits 1 of 3; 4 in total, because each node admits at least the most expensive request");
  limit.local_share = 500'000;
  EXPECT_EQ(outage_text(limit, bucket, 0, 4), "each node admits 10 of 20 (local_share)");
  limit.on_store_failure = OnStoreFailure::open;
  EXPECT_EQ(outage_text(limit, bucket, 0, 4), "all requests pass");
  limit.on_store_failure = OnStoreFailure::closed;
  EXPECT_EQ(outage_text(limit, bucket, 0, 4), "no request passes");
}

}  // namespace
}  // namespace weir::engine
