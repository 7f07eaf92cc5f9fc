// Shared by the conformance suites: every state that a few operations lead to, for an algorithm and its model.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/core/differential.h"

namespace weir::core {

inline constexpr Duration microsecond{1};

template <class A>
class Conformance : public testing::Test {
 protected:
  using Model = typename ModelOf<A>::Type;

  // A state, its model and the time.
  struct Situation {
    Subject<A> subject;
    Model model;
    Instant now;
    std::string story;

    [[nodiscard]] Situation copy() const { return {subject.copy(), model, now, story}; }
    [[nodiscard]] oracle::Int micros() const { return now.time_since_epoch().count(); }

    // The times at which tests compare states by their answers.
    [[nodiscard]] static std::vector<Duration> sample_times() {
      return {Duration{0}, Duration{1}, Duration{2}, Duration{5}, Duration{11}, Duration{30}};
    }
    [[nodiscard]] std::vector<Decision> seen_from(Instant then) const {
      return subject.seen_from(then, sample_times());
    }
    [[nodiscard]] std::vector<Decision> seen() const { return seen_from(now); }
  };

  static std::vector<Numbers> small_numbers() {
    return {{.capacity = 1, .count = 1, .per = Duration{1}},
            {.capacity = 1, .count = 1, .per = Duration{7}},
            {.capacity = 3, .count = 2, .per = Duration{7}},
            {.capacity = 3, .count = 5, .per = Duration{3}},
            {.capacity = 4, .count = 1, .per = Duration{10}}};
  }

  // Stops at the first decision that differs.
  static void expect_alike(const std::vector<Decision>& actual, const std::vector<Decision>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
      ASSERT_EQ(actual[i], expected[i]) << "of what is seen, number " << i;
  }

  // Calls work(situation) for every situation that up to three operations lead to. Stops at the first failure and
  // reports how it was reached.
  template <class Work>
  static void in_every_situation(Work work) {
    for (const Numbers& numbers : small_numbers()) {
      const auto limit = limit_of<A>(numbers).value();
      for (const std::int64_t start : {std::int64_t{-3}, std::int64_t{1'700'000'000'000'001}}) {
        std::ostringstream story;
        story << numbers << ", from " << start << ":";
        const Situation fresh{Subject<A>(limit), Model(limit), Instant{Duration{start}}, story.str()};
        visit(fresh, 3, work);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  // Calls work(situation, cost) for every cost that fits the capacity, and one that does not.
  template <class Work>
  static void for_every_cost(Work work) {
    in_every_situation([&](const Situation& situation) {
      for (std::uint64_t cost = 0; cost <= situation.subject.capacity() + 1; ++cost) {
        work(situation, Cost{cost});
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }

 private:
  template <class Work>
  static void visit(const Situation& situation, int operations_left, Work& work) {
    work(situation);
    if (testing::Test::HasFatalFailure()) {
      GTEST_FAIL() << situation.story;
    }
    if (operations_left == 0) return;
    for (const std::int64_t step : {0, 2, 5}) {
      for (const std::uint64_t cost : {std::uint64_t{1}, situation.subject.capacity()}) {
        visit(after_charge(situation, Duration{step}, cost), operations_left - 1, work);
        if (testing::Test::HasFatalFailure()) return;
      }
      if (is_exact_in_debt(situation, Duration{step})) {
        visit(after_debt(situation, Duration{step}, 2), operations_left - 1, work);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  // A log that is full of entries adds a debt to the newest of them; its model does not.
  static bool is_exact_in_debt(const Situation& situation, Duration step) {
    if constexpr (std::is_same_v<A, SlidingWindowLog>) {
      return situation.model.instants(situation.micros() + step.count()) < situation.model.capacity();
    }
    return true;
  }

  static Situation after_charge(const Situation& before, Duration step, std::uint64_t cost) {
    Situation after = before.copy();
    after.now += step;
    const bool admitted = after.subject.decide(Cost{cost}, after.now).admitted;
    if (admitted) after.model.charge(cost, after.micros());
    after.story += " +" + std::to_string(step.count()) + " decide(" + std::to_string(cost) + ")";
    return after;
  }

  static Situation after_debt(const Situation& before, Duration step, std::uint64_t cost) {
    Situation after = before.copy();
    after.now += step;
    after.subject.owe(Cost{cost}, after.now);
    after.model.owe(cost, after.micros());
    after.story += " +" + std::to_string(step.count()) + " owe(" + std::to_string(cost) + ")";
    return after;
  }
};

}  // namespace weir::core
