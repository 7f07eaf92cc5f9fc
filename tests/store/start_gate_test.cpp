#include "store/outage/start_gate.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/store/groups.h"
#include "tests/store/memory_store.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

class StartGateTest : public testing::Test {
 protected:
  MemoryStore inner_;
  StartGate gate_{inner_};
  BoundStates api_{*Limit::fixed_window({2, Duration(1min)})};
};

TEST_F(StartGateTest, NothingIsDecidedBeforeItOpens) {
  Submitted group({api_.check("alice")});
  gate_.submit(group);
  EXPECT_EQ(group.answers, 0);
  EXPECT_FALSE(gate_.is_open());
  gate_.open();
  EXPECT_TRUE(gate_.is_open());
  EXPECT_EQ(group.answers, 1);
  EXPECT_TRUE(group.decided && group.admitted);
}

TEST_F(StartGateTest, WhatWaitedIsDecidedInOrderAndOnce) {
  Submitted first({api_.check("alice")});
  Submitted second({api_.check("alice")});
  Submitted third({api_.check("alice")});
  Group* const two[] = {&first, &second};
  gate_.submit(two);
  gate_.submit(third);
  gate_.open();
  gate_.open();
  EXPECT_EQ(first.answers + second.answers + third.answers, 3);
  EXPECT_TRUE(first.admitted && second.admitted);
  EXPECT_FALSE(third.admitted);
}

TEST_F(StartGateTest, WhatComesLaterGoesStraightOn) {
  gate_.open();
  Submitted group({api_.check("alice")});
  gate_.submit(group);
  EXPECT_EQ(group.answers, 1);
}

TEST_F(StartGateTest, ACallbackMaySubmitWhileItOpens) {
  Submitted first({api_.check("alice")});
  Submitted next({api_.check("alice")});
  first.then = [&] { gate_.submit(next); };
  gate_.submit(first);
  gate_.open();
  EXPECT_EQ(next.answers, 1);
  EXPECT_TRUE(next.admitted);
}

TEST_F(StartGateTest, AnUnavailableInnerStoreIsReportedWhenTheGateOpens) {
  Submitted group({api_.check("alice")});
  gate_.submit(group);
  inner_.failing = Failure::unavailable;
  gate_.open();
  EXPECT_EQ(group.answers, 1);
  EXPECT_EQ(group.failure, Failure::unavailable);
}

}  // namespace
}  // namespace weir::store
