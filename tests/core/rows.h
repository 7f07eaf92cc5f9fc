// Rows of (now, cost) -> decision: the executable specification of an algorithm.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "tests/core/subject.h"

namespace weir::core {

using namespace std::chrono_literals;

// `charged_at` is the row's instant plus its delay, unless set.
inline Decision admitted(std::uint64_t remaining, Duration reset_after, Duration delay = 0us) {
  return {.admitted = true, .remaining = remaining, .reset_after = reset_after, .delay = delay};
}

inline Decision denied(std::uint64_t remaining, Duration retry_after, Duration reset_after) {
  return {.admitted = false, .remaining = remaining, .retry_after = retry_after, .reset_after = reset_after};
}

// The cost can never fit.
inline Decision refused(std::uint64_t remaining, Duration reset_after) {
  return {.admitted = false, .remaining = remaining, .retry_after = std::nullopt, .reset_after = reset_after};
}

struct Row {
  Duration now;
  std::uint64_t cost;
  Decision expected;
};

// Decides row after row on one state.
template <class A>
void expect_rows(const weir::Limit& limit, const std::vector<Row>& rows) {
  Subject<A> subject(limit);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Decision expected = rows[i].expected;
    expected.limit = limit.capacity();
    expected.charged_at = at(rows[i].now) + expected.delay;
    EXPECT_EQ(subject.decide(Cost{rows[i].cost}, at(rows[i].now)), expected)
        << "row " << i + 1 << ": at " << rows[i].now.count() << " us, cost " << rows[i].cost;
  }
}

// A state with verbs; tests query what is left of it.
template <class A>
class Story : public testing::Test {
 protected:
  void limited_to(const weir::Limit& limit) { subject_ = Subject<A>(limit); }

  // Charges, and expects that it is admitted.
  Decision charge(std::uint64_t cost, Duration now) {
    const Decision decision = subject_->decide(Cost{cost}, at(now));
    EXPECT_TRUE(decision.admitted) << cost << " at " << now.count() << " us";
    return decision;
  }

  void use(std::uint64_t cost, Duration now) { std::ignore = charge(cost, now); }

  void refund(std::uint64_t cost, const Decision& charge, Duration now) {
    subject_->refund(Cost{cost}, charged_by(charge), at(now));
  }

  void settle(std::uint64_t reserved, std::uint64_t actual, const Decision& charge, Duration now) {
    subject_->settle({Cost{reserved}, Cost{actual}, charged_by(charge)}, at(now));
  }

  [[nodiscard]] Decision peek(std::uint64_t cost, Duration now) const { return subject_->peek(Cost{cost}, at(now)); }
  [[nodiscard]] std::uint64_t remaining(Duration now) const { return peek(0, now).remaining; }
  [[nodiscard]] std::optional<Duration> wait_for(std::uint64_t cost, Duration now) const {
    return peek(cost, now).retry_after;
  }
  [[nodiscard]] Duration reset_after(Duration now) const { return peek(0, now).reset_after; }

  void carry_over_to(const weir::Limit& limit, Duration now) { subject_->carry_over_to(limit, at(now)); }
  [[nodiscard]] Duration forget_at() const { return subject_->forget_at().time_since_epoch(); }

  std::optional<Subject<A>> subject_;
};

}  // namespace weir::core
