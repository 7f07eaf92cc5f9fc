// The store fails only for the candidate of a receipt: repeating the call corrects it.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/receipt.h"
#include "tests/engine/shared_engine.h"

namespace weir::engine {
namespace {

using Action = ReceiptRequest::Action;
using store::Failure;

class CandidateReceiptsTest : public testing::Test {
 protected:
  std::optional<ReceiptParts> reserve(std::uint64_t cost, core::ReceiptId id = {}) {
    const Asked asked(Request::to("GET /try").by("ada"));
    Query query = asked.query();
    query.cost = Cost{cost};
    run([&](EvaluationBatch& batch) { batch.add(query, {.action = Action::reserve, .id = id}); });
    const ReceiptParts* const receipt = shared_.batch->receipt(0);
    return receipt == nullptr ? std::nullopt : std::optional(*receipt);
  }
  // The result for the limit.
  core::ReceiptResult settle(const ReceiptParts& receipt, std::uint64_t actual) {
    run([&](EvaluationBatch& batch) { batch.add(receipt, {.action = Action::settle, .actual = Cost{actual}}); });
    return shared_.batch->receipt_outcomes(0)[0].result;
  }
  // True if the candidate admits the cost, which is then charged.
  bool candidate_admits(std::uint64_t cost) {
    EXPECT_TRUE(reserve(cost));
    return shared_.batch->verdict(0).outcomes[0].candidate->admitted;
  }
  // Fails once: the limit's group is answered, then the candidate's fails.
  void fail_candidate(Failure failure) { failure_ = failure; }

 private:
  template <class Add>
  void run(Add add) {
    shared_.batch->clear();
    add(*shared_.batch);
    shared_.store.holds = true;
    std::ignore = shared_.batch->submit();
    shared_.store.deliver();
    EXPECT_EQ(shared_.store.waiting(), 1U) << "the candidate's";
    shared_.store.fail(std::exchange(failure_, Failure::none));
    EXPECT_EQ(shared_.store.waiting(), 0U);
  }

  SharedEngine shared_{R"(
version: 1
limits:
  - { name: next, consumer_key: user, algorithm: fixed_window, rate: 1000/day, candidate: { rate: 30/day } }
)"};
  Failure failure_ = Failure::none;
};

TEST_F(CandidateReceiptsTest, ASettlementThatIsRepeatedCorrectsIt) {
  for (const Failure failure : {Failure::timeout, Failure::lost, Failure::refused}) {
    const auto receipt = reserve(20);
    ASSERT_TRUE(receipt);
    fail_candidate(failure);
    EXPECT_EQ(settle(*receipt, 0), core::ReceiptResult::done) << "a candidate changes no answer";
    EXPECT_FALSE(candidate_admits(20)) << "it is still charged";
    EXPECT_EQ(settle(*receipt, 0), core::ReceiptResult::ended);
    const auto again = reserve(20);
    ASSERT_TRUE(again);
    EXPECT_EQ(settle(*again, 0), core::ReceiptResult::done);
  }
  EXPECT_TRUE(candidate_admits(30));
}

TEST_F(CandidateReceiptsTest, AReserveThatIsRepeatedUnderItsIdChargesIt) {
  fail_candidate(Failure::refused);
  const auto receipt = reserve(20, {0, 7});
  ASSERT_TRUE(receipt) << "the limit has its own";
  EXPECT_TRUE(reserve(20, {0, 7}));
  EXPECT_FALSE(candidate_admits(20)) << "10 of 30 are left to it";
  EXPECT_EQ(settle(*receipt, 0), core::ReceiptResult::done) << "and it is settled with the limit";
  EXPECT_TRUE(candidate_admits(30));
}

}  // namespace
}  // namespace weir::engine
