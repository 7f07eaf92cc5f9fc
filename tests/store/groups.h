// States of a limit for tests of stores, and groups that record their answers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/share.h"
#include "store/shared/shared_terms.h"
#include "store/store.h"
#include "weir/limit.h"

namespace weir::store {

// A limit with its own table, half of which is this process's share.
class BoundStates {
 public:
  explicit BoundStates(const Limit& limit) : limit_(limit) {
    states_.rule = core::compile(limit);
    table_ = *table::Table::create(states_.rule, std::size_t{4} << 20, {1, 2});
    states_.table = table_.get();
    states_.shared = &terms_;
    terms_.share = core::compile(core::local_share_of(limit, 500'000, Cost{1}));
    terms_.charges_back = true;
  }
  BoundStates(const BoundStates&) = delete;
  BoundStates& operator=(const BoundStates&) = delete;

  BoundStates& on_failure(OnFailure choice) { return states_.on_failure = choice, *this; }
  BoundStates& divided() { return terms_.share = NodeShare{limit_}, *this; }  // the share by the number of nodes
  BoundStates& without_charge_back() { return terms_.charges_back = false, *this; }

  [[nodiscard]] Check check(const std::string& consumer, std::uint64_t cost = 1) const {
    Check check;
    check.states = &states_;
    check.rule = &states_.rule;
    check.hash = table_->hash(consumer);
    check.key = std::to_string(number_) + ":" + consumer;
    check.cost = Cost{cost};
    return check;
  }
  [[nodiscard]] Check guard(const std::string& consumer) const {
    Check looked = check(consumer);
    looked.role = Check::Role::guard;
    return looked;
  }

 private:
  static inline int next_number = 0;

  const int number_ = next_number++;
  const Limit limit_;
  States states_;
  SharedTerms terms_;
  std::unique_ptr<table::Table> table_;
};

// Counts how often it is answered.
struct Submitted : Group, Callback {
  explicit Submitted(std::vector<Check> its_checks, Operation its_operation = Operation::decide) {
    operation = its_operation;
    checks = std::move(its_checks);
    callback = this;
    fallback = Fallback::by_limit;
  }
  Submitted(const Submitted&) = delete;
  Submitted& operator=(const Submitted&) = delete;
  virtual ~Submitted() = default;

  void answered(Group& group) override {
    EXPECT_EQ(&group, this);
    EXPECT_EQ(group.callback, this) << "it may be submitted again";
    ++answers;
    if (then) then();
  }

  int answers = 0;
  std::function<void()> then;
};

}  // namespace weir::store
