// The conformance suite of receipts for all stores: random reserves, settlements, releases, extensions and reports
// among plain decisions, on limits of every algorithm, compared with the core on a map.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/store/groups.h"
#include "tests/store/memory_store.h"

namespace weir::store {

class ReceiptSuite {
 public:
  // Starts at `start`, by the store's clock.
  explicit ReceiptSuite(std::uint64_t seed, Instant start = Instant{std::chrono::seconds(1'700'000'000)})
      : random_(seed), now_(start) {
    const Rate rate{3, Duration(std::chrono::seconds(2))};
    const WindowNumbers window{12, Duration(std::chrono::seconds(5))};
    for (const auto& limit :
         {Limit::token_bucket({rate, 12}), Limit::gcra({{1, Duration(std::chrono::seconds(1))}, 10}),
          Limit::leaky_bucket(BucketNumbers{rate, 9}), Limit::leaky_bucket(QueueNumbers{rate, 8}),
          Limit::fixed_window(window), Limit::sliding_window_log(window), Limit::sliding_window_counter(window),
          Limit::concurrency({8, Duration(std::chrono::seconds(5))})}) {
      limits_.emplace_back(*limit);
    }
  }

  // `submit(group, now)` makes the store under test answer the group as of then.
  template <class Submit>
  void run(std::size_t groups, const Submit& submit) {
    CoreStates core;
    for (std::size_t i = 0; i < groups; ++i) {
      now_ += next_step();
      uses_.clear();
      Submitted asked({}, Operation::decide);
      fill(asked);
      Group expected = asked;
      std::deque<core::ReceiptUse> expected_uses(uses_.begin(), uses_.end());
      std::size_t use = 0;
      for (Check& check : expected.checks) {
        if (check.receipt != nullptr) check.receipt = &expected_uses[use++];
      }
      submit(asked, now_);
      core.decide(expected, asked.now);
      expect_equal(asked, expected, i);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  Duration next_step() {
    switch (below(6)) {
      case 0:
        return Duration{static_cast<std::int64_t>(below(3'000'000))};
      case 1:
        return Duration{static_cast<std::int64_t>(below(60))};
      case 2:
        return one_in(40) ? std::chrono::hours(2) : Duration{250'000};
      default:
        return Duration{0};
    }
  }

  Check next_check() {
    const std::string consumer = "consumer " + std::to_string(below(3));
    return limits_[below(limits_.size())].check(consumer, one_in(12) ? below(14) : below(5));
  }
  void add_use(Check& check, core::ReceiptId id) {
    check.receipt = &uses_.emplace_back(core::ReceiptUse{.id = id});
    check.receipt->lasts = Duration{static_cast<std::int64_t>(1 + below(6'000'000))};
    if (!one_in(5)) check.receipt->actual = Cost{one_in(2) ? 0 : below(9)};
  }
  [[nodiscard]] core::ReceiptId next_id() { return {7, 1 + below(24)}; }

  // All checks of a group reserve under one id, and some keys occur twice.
  void fill(Group& group) {
    const std::uint64_t kind = below(20);
    group.operation = kind < 10   ? Operation::decide
                      : kind < 11 ? Operation::look
                      : kind < 16 ? Operation::settle
                      : kind < 17 ? Operation::extend
                      : kind < 19 ? Operation::report
                                  : Operation::forget;
    const core::ReceiptId id = group.operation == Operation::settle || group.operation == Operation::extend
                                   ? reserved_.empty() || one_in(8) ? next_id() : reserved_[below(reserved_.size())].id
                                   : next_id();
    const bool has_use = group.operation != Operation::forget && !(group.operation <= Operation::look && one_in(3));
    if (group.operation == Operation::settle || group.operation == Operation::extend) {
      for (const Reserved& one : reserved_) {
        if (one.id == id && group.checks.size() < 3) group.checks.push_back(one.check);
      }
    }
    while (group.checks.empty() || (group.operation == Operation::decide && one_in(2) && group.checks.size() < 4)) {
      Check check = next_check();
      // For a log that occurs twice in a denied group, a table reports what remains without the charge.
      const bool is_repeated_log =
          std::holds_alternative<core::RuleOf<core::SlidingWindowLog>>(*check.rule) &&
          std::ranges::any_of(group.checks, [&](const Check& other) { return other.key == check.key; });
      if (!is_repeated_log) group.checks.push_back(std::move(check));
    }
    for (Check& check : group.checks) {
      check.receipt = nullptr;
      if (has_use) add_use(check, group.operation == Operation::report && one_in(4) ? core::ReceiptId{} : id);
    }
    if (group.operation == Operation::decide && has_use) {
      for (const Check& check : group.checks) reserved_.push_back({id, check});
      while (reserved_.size() > 30) reserved_.pop_front();
    }
  }

  static void expect_equal(const Group& was, const Group& should, std::size_t number) {
    ASSERT_TRUE(was.decided) << "group " << number;
    ASSERT_EQ(was.admitted, should.admitted) << "group " << number;
    for (std::size_t i = 0; i < was.checks.size(); ++i) {
      SCOPED_TRACE("group " + std::to_string(number) + " operation " + std::to_string(static_cast<int>(was.operation)) +
                   " check " + std::to_string(i) + " key " + was.checks[i].key);
      if (was.operation != Operation::forget) {
        ASSERT_EQ(was.checks[i].decision.admitted, should.checks[i].decision.admitted);
        ASSERT_EQ(was.checks[i].decision.remaining, should.checks[i].decision.remaining);
        ASSERT_EQ(was.checks[i].decision, should.checks[i].decision);
      }
      if (was.checks[i].receipt == nullptr) continue;
      const core::ReceiptUse& told = *was.checks[i].receipt;
      const core::ReceiptUse& expected = *should.checks[i].receipt;
      ASSERT_EQ(told.result, expected.result);
      if (told.result != core::ReceiptResult::done && told.result != core::ReceiptResult::repeated) continue;
      ASSERT_EQ(told.cost, expected.cost);
      ASSERT_EQ(told.lost, expected.lost);
      ASSERT_EQ(told.ends, expected.ends);
    }
  }

  struct Reserved {
    core::ReceiptId id;
    Check check;
  };

  std::mt19937_64 random_;
  std::deque<BoundStates> limits_;
  Instant now_;
  std::deque<core::ReceiptUse> uses_;
  std::deque<Reserved> reserved_;
};

}  // namespace weir::store
