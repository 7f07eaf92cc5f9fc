// An ask whose keys lie in several slots: what is owed when one of its parts fails.
#include "store/redis/split_ask.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

struct Refunds final : SplitAsk::Owner {
  void refund(const SharedCheck& charged, Instant /*charged_at*/, Slot /*slot*/) override {
    refunded.push_back(charged.key);
  }
  void on_done(SplitAsk& /*split*/) override { ++done; }

  std::vector<std::string> refunded;
  int done = 0;
};

struct Asker final : SharedAsker {
  void answered(SharedAsk& /*ask*/) override { ++told; }

  int told = 0;
};

class SplitFailureTest : public testing::Test {
 protected:
  SplitFailureTest() : split_(refunds_) {
    whole_.asker = &asker_;
    whole_.checks.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
      whole_.checks[i].key = i == 0 ? "a" : "b";
      whole_.checks[i].rule = &rule_;
      whole_.checks[i].charge_back = 5;
    }
    const std::array<Slot, 2> slots{1, 2};
    split_.begin(whole_, slots);
  }

  void answer(std::size_t i, StoreFailure failure) {
    SharedAsk& part = split_.parts()[i].ask;
    part.failure = failure;
    part.admitted = failure == StoreFailure::none;
    part.answers.assign(failure == StoreFailure::none ? 1 : 0, {});
    if (!part.answers.empty()) part.answers[0].decision = {.admitted = true, .limit = 10, .remaining = 4};
    split_.answered(part);
  }

  const core::Rule rule_ = core::compile(*Limit::gcra({{1, Duration(1s)}, 10}));
  Refunds refunds_;
  Asker asker_;
  SharedAsk whole_;
  SplitAsk split_;
};

TEST_F(SplitFailureTest, WhatOnePartHasChargedBackIsNotOwedAnyMore) {
  answer(0, StoreFailure::none);
  answer(1, StoreFailure::refused);
  EXPECT_EQ(whole_.failure, StoreFailure::refused);
  EXPECT_EQ(refunds_.refunded, std::vector<std::string>{"a"});
  EXPECT_EQ(whole_.checks[0].charge_back, 0U);
  EXPECT_EQ(whole_.checks[1].charge_back, 5U);
}

TEST_F(SplitFailureTest, TheFailureThatLeavesMostInDoubtCounts) {
  answer(0, StoreFailure::timeout);
  answer(1, StoreFailure::away);
  EXPECT_EQ(whole_.failure, StoreFailure::timeout);
  EXPECT_EQ(whole_.checks[0].charge_back, 0U);
  EXPECT_TRUE(whole_.answers.empty());
}

}  // namespace
}  // namespace weir::store::redis
