// Recording on a warm ruleset allocates nothing, neither for admitted requests nor for a flood of denials.
#include "tests/allocations.h"
#include "tests/observe/recorder_fixture.h"

namespace weir::observe {
namespace {

using RecorderAllocationTest = RecorderTest;

constexpr auto two_limits = R"(
version: 1
limits:
  - { name: user, consumer_key: [user, ip], algorithm: token_bucket, rate: 1/h, burst: 5000 }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 1000000/s }
)";

TEST_F(RecorderAllocationTest, AdmittedRequestsAllocateNothing) {
  load(two_limits);
  const Asked asked(Request::to("GET /").by("alice"));
  const auto admitted = [&] {
    int count = 0;
    for (int i = 0; i < 1000; ++i) count += evaluator_->evaluate(asked.query(), now_).admitted ? 1 : 0;
    return count;
  };
  ASSERT_EQ(admitted(), 1000);
  const std::uint64_t before = allocations.load();
  const int count = admitted();
  EXPECT_EQ(allocations.load() - before, 0U);
  EXPECT_EQ(count, 1000);
}

TEST_F(RecorderAllocationTest, FloodOfDenialsFromOneConsumerAllocatesNothingOnceItIsKnown) {
  load(two_limits);
  const Asked asked(Request::to("GET /").by("alice"));
  const auto denied = [&] {
    int count = 0;
    for (int i = 0; i < 6000; ++i) count += evaluator_->evaluate(asked.query(), now_).admitted ? 0 : 1;
    return count;
  };
  ASSERT_EQ(denied(), 1000);
  const std::uint64_t before = allocations.load();
  const int count = denied();
  EXPECT_EQ(allocations.load() - before, 0U);
  EXPECT_EQ(count, 6000);
}

}  // namespace
}  // namespace weir::observe
