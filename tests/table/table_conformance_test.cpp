// The table decides like the core with one state per key: every algorithm, every layout, any trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "table_fixture.h"

namespace weir::table {
namespace {

// The core's own states, one per key.
class Reference {
 public:
  virtual ~Reference() = default;
  virtual Decision decide(int key, Cost cost, Instant now) = 0;
  virtual Decision peek(int key, Cost cost, Instant now) = 0;
  virtual void refund(int key, Cost cost, const core::Charged& charged, Instant now) = 0;
  virtual void settle(int key, const core::Settlement& settlement, Instant now) = 0;
  virtual void reset(int key) = 0;
};

template <class A>
class ReferenceOf final : public Reference {
 public:
  explicit ReferenceOf(const typename A::Limit& limit) : limit_(limit) {}
  Decision decide(int key, Cost cost, Instant now) override { return A::decide(limit_, states_[key], cost, now); }
  Decision peek(int key, Cost cost, Instant now) override { return A::peek(limit_, states_[key], cost, now); }
  void refund(int key, Cost cost, const core::Charged& charged, Instant now) override {
    A::refund(limit_, states_[key], cost, charged, now);
  }
  void settle(int key, const core::Settlement& settlement, Instant now) override {
    core::settle<A>(limit_, states_[key], settlement, now);
  }
  void reset(int key) override { states_.erase(key); }

 private:
  typename A::Limit limit_;
  std::map<int, typename A::State> states_;
};

std::unique_ptr<Reference> reference_for(const core::Rule& rule) {
  return std::visit(
      []<class A>(const core::RuleOf<A>& of) -> std::unique_ptr<Reference> {
        return std::make_unique<ReferenceOf<A>>(of.limit);
      },
      rule);
}

class TableConformance : public ForEveryLimit {
 protected:
  TableConformance() : table_(limit()), reference_(reference_for(table_.rule())) {}

  static std::string name_of(int key) { return "consumer-" + std::to_string(key); }
  int any_key() { return std::uniform_int_distribution(0, 300)(random_); }
  std::uint64_t any_cost() { return std::uniform_int_distribution<std::uint64_t>(0, capacity() + 1)(random_) % 7; }
  void pass_time() {
    now_ += Duration{std::uniform_int_distribution<std::int64_t>(-200, 60'000)(random_)};
    if (std::uniform_int_distribution(0, 999)(random_) == 0) now_ += 7s;
  }

  std::mt19937_64 random_{42};
  Instant now_ = noon;
  LimitedTable table_;
  std::unique_ptr<Reference> reference_;
};

TEST_P(TableConformance, DecidesAsTheCoreDoesWithAStatePerKey) {
  for (int step = 0; step < 40'000; ++step) {
    const int key = any_key();
    const std::uint64_t cost = any_cost();
    pass_time();
    ASSERT_EQ(table_.peek(name_of(key), now_, cost), reference_->peek(key, Cost{cost}, now_)) << "step " << step;
    ASSERT_EQ(table_.decide(name_of(key), now_, cost), reference_->decide(key, Cost{cost}, now_)) << "step " << step;
  }
}

TEST_P(TableConformance, RefundsSettlesAndResetsAsTheCoreDoes) {
  std::map<int, Decision> charges;
  for (int step = 0; step < 40'000; ++step) {
    const int key = any_key();
    const std::uint64_t cost = any_cost();
    const std::uint64_t actual = any_cost();
    pass_time();
    const KeyHash hash = table_.table().hash(name_of(key));
    const core::Charged charged = core::charged_by(charges[key]);
    switch (step % 8) {
      case 0:
        table_.refund(name_of(key), cost, charges[key], now_);
        reference_->refund(key, Cost{cost}, charged, now_);
        break;
      case 1:
        table_.table().settle(table_.rule(), hash, {Cost{cost}, Cost{actual}, charged}, now_);
        reference_->settle(key, {Cost{cost}, Cost{actual}, charged}, now_);
        break;
      case 2:
        table_.reset(name_of(key), now_);
        reference_->reset(key);
        break;
      case 3: {
        const Decision seen = reference_->peek(key, Cost{0}, now_);
        ASSERT_EQ(table_.table().take_usage(table_.rule(), hash, now_), seen.limit - seen.remaining) << "step " << step;
        reference_->reset(key);
        break;
      }
      case 4: {
        const std::uint64_t most = reference_->peek(key, Cost{0}, now_).remaining;
        table_.table().add_usage(table_.rule(), hash, Cost{cost}, now_);
        std::ignore = reference_->decide(key, Cost{std::min(cost, most)}, now_);
        break;
      }
      default:
        charges[key] = table_.decide(name_of(key), now_, cost);
        ASSERT_EQ(charges[key], reference_->decide(key, Cost{cost}, now_)) << "step " << step;
    }
  }
}

TEST_P(TableConformance, FromTheKeyOnItDecidesAsTheCoreDoesByEitherHash) {
  for (const HashKind hash : hash_kinds()) {
    LimitedTable table(limit(), 64 * mebibyte, hash);
    const auto reference = reference_for(table.rule());
    const auto decide = table.table().decide_functions<Decision>(table.rule()).one;
    const auto admit = table.table().decide_functions<bool>(table.rule()).one;
    for (int step = 0; step < 20'000; ++step) {
      const int key = any_key();
      const Cost cost{any_cost()};
      pass_time();
      const Decision expected = reference->decide(key, cost, now_);
      if (step % 2 == 0) {
        ASSERT_EQ(decide(table.table(), table.rule(), name_of(key), cost, now_), expected) << "step " << step;
      } else {
        ASSERT_EQ(admit(table.table(), table.rule(), name_of(key), cost, now_), expected.admitted) << "step " << step;
      }
    }
  }
}

TEST_P(TableConformance, SeveralKeysAreDecidedInOrderByEitherHash) {
  for (const HashKind hash : hash_kinds()) {
    LimitedTable table(limit(), 64 * mebibyte, hash);
    const auto reference = reference_for(table.rule());
    const auto decide = table.table().decide_functions<Decision>(table.rule()).several;
    const auto admit = table.table().decide_functions<bool>(table.rule()).several;
    std::array<Decision, Table::max_batch_size> decisions;
    std::array<bool, Table::max_batch_size> admitted{};
    for (int round = 0; round < 600; ++round) {
      pass_time();
      std::vector<int> keys(static_cast<std::size_t>(std::uniform_int_distribution(0, 32)(random_)));
      std::generate(keys.begin(), keys.end(), [&] { return any_key() % 40; });
      std::vector<std::string> names;
      for (const int key : keys) names.push_back(name_of(key));
      std::vector<Request> asks;
      for (const std::string& name : names) asks.push_back({name, Cost{any_cost()}});
      if (round % 2 == 0) {
        decide(table.table(), table.rule(), asks, now_, decisions.data());
      } else {
        admit(table.table(), table.rule(), asks, now_, admitted.data());
      }
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const Decision expected = reference->decide(keys[i], asks[i].cost, now_);
        if (round % 2 == 0) {
          ASSERT_EQ(decisions[i], expected) << "round " << round << " item " << i;
        } else {
          ASSERT_EQ(admitted[i], expected.admitted) << "round " << round << " item " << i;
        }
      }
    }
  }
}

TEST_P(TableConformance, ACostThatNeverFitsAndALookTakeNoRoom) {
  const std::size_t before = table_.table().bytes_used();
  for (int key = 0; key < 50'000; ++key) {
    ASSERT_FALSE(table_.decide(name_of(key), now_, capacity() + 1).admitted);
    ASSERT_TRUE(table_.decide(name_of(key), now_, 0).admitted);
  }
  EXPECT_EQ(table_.table().bytes_used(), before);
}

INSTANTIATE_TEST_SUITE_P(All, TableConformance, testing::ValuesIn(all_limits()), limit_name);

}  // namespace
}  // namespace weir::table
