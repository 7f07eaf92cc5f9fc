// An ask whose keys lie in several slots: what becomes of it when its parts fare differently.
#include "store/redis/split_ask.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

namespace weir::store::redis {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

struct Refunds : SplitAsk::Owner {
  void refund(const SharedCheck& charged, Instant /*charged_at*/, Slot /*slot*/) override {
    refunded.push_back(charged.key);
  }
  void on_done(SplitAsk& /*split*/) override { ++done; }

  std::vector<std::string> refunded;
  int done = 0;
};

struct Asker : SharedAsker {
  void answered(SharedAsk& /*ask*/) override { ++told; }

  int told = 0;
};

class SplitAskTest : public testing::Test {
 protected:
  SplitAskTest() : split_(refunds_) {
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

  // The part's fate: a failure, or what it decided.
  void answer(std::size_t i, StoreFailure failure, bool admitted = true) {
    SharedAsk& part = split_.parts()[i].ask;
    part.failure = failure;
    part.admitted = failure == StoreFailure::none && admitted;
    part.answers.assign(failure == StoreFailure::none ? 1 : 0, {});
    if (!part.answers.empty()) part.answers[0].decision = {.admitted = admitted, .limit = 10, .remaining = 4};
    split_.answered(part);
  }

  const core::Rule rule_ = core::compile(*Limit::gcra({{1, Duration(1s)}, 10}));
  Refunds refunds_;
  Asker asker_;
  SharedAsk whole_;
  SplitAsk split_;
};

TEST_F(SplitAskTest, IsAdmittedWhenAllPartsAre) {
  answer(0, StoreFailure::none);
  EXPECT_EQ(asker_.told, 0);
  answer(1, StoreFailure::none);
  EXPECT_EQ(asker_.told, 1);
  EXPECT_TRUE(whole_.admitted);
  EXPECT_TRUE(refunds_.refunded.empty());
  EXPECT_EQ(whole_.checks[1].key, "b");
}

TEST_F(SplitAskTest, GivesBackWhatWasChargedWhenAnotherDenies) {
  answer(0, StoreFailure::none);
  answer(1, StoreFailure::none, false);
  EXPECT_FALSE(whole_.admitted);
  EXPECT_EQ(whole_.failure, StoreFailure::none);
  EXPECT_EQ(refunds_.refunded, std::vector<std::string>{"a"});
  EXPECT_EQ(whole_.answers[0].decision.remaining, 5U);
}

TEST_F(SplitAskTest, WhatOnePartHasChargedBackIsNotOwedAnyMore) {
  answer(0, StoreFailure::none);
  answer(1, StoreFailure::refused);
  EXPECT_EQ(whole_.failure, StoreFailure::refused);
  EXPECT_EQ(refunds_.refunded, std::vector<std::string>{"a"});
  EXPECT_EQ(whole_.checks[0].charge_back, 0U);
  EXPECT_EQ(whole_.checks[1].charge_back, 5U);
}

TEST_F(SplitAskTest, TheFailureThatLeavesMostInDoubtCounts) {
  answer(0, StoreFailure::timeout);
  answer(1, StoreFailure::away);
  EXPECT_EQ(whole_.failure, StoreFailure::timeout);
  EXPECT_EQ(whole_.checks[0].charge_back, 0U);
  EXPECT_TRUE(whole_.answers.empty());
}

}  // namespace
}  // namespace weir::store::redis
