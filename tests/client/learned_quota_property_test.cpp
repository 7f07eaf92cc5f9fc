// LearnedQuota against a naive model that keeps every promise forever and evaluates all of them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "client/learned_quota.h"

namespace weir::client {
namespace {

class EveryPromise {
 public:
  void promise(std::uint64_t left, Instant until) { promises_.push_back({left, until}); }

  [[nodiscard]] Instant admits_at(Cost cost, Instant now) const {
    Instant at = now;
    for (const Promise& promise : promises_) {
      const bool breaks = promise.left < std::max<std::uint64_t>(cost.units(), 1);
      if (breaks) at = std::max(at, promise.until);
    }
    return at;
  }

  void take(Cost cost, Instant now) {
    for (Promise& promise : promises_) {
      if (promise.until > now) promise.left -= cost.units();
    }
  }

 private:
  struct Promise {
    std::uint64_t left;
    Instant until;
  };
  std::vector<Promise> promises_;
};

// Drives both with one trace; `compare` compares what the learned quota admits with what every promise allows.
template <class Compare>
void drive(std::uint64_t max_left, int longest, Compare compare) {
  LearnedQuota quota;
  EveryPromise oracle;
  Instant now{};
  const int steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    now += Duration{*rc::gen::inRange(0, 4)};
    if (*rc::gen::arbitrary<bool>()) {
      const auto left = *rc::gen::inRange<std::uint64_t>(0, max_left);
      const Instant until = now + Duration{*rc::gen::inRange(0, longest)};
      quota.promise(left, until, now);
      oracle.promise(left, until);
    }
    const Cost cost{*rc::gen::inRange<std::uint64_t>(0, 4)};
    const Instant at = quota.admits_at(cost, now);
    compare(at, oracle.admits_at(cost, now));
    if (at == now) {
      quota.take(cost, now);
      oracle.take(cost, now);
    }
  }
}

// With fewer than max_steps different amounts, there are never too many steps.
RC_GTEST_PROP(LearnedQuotaProperty, AdmitsExactlyWhenEveryPromiseAllows, ()) {
  drive(LearnedQuota::max_steps, 40, [](Instant at, Instant expected) { RC_ASSERT(at == expected); });
}

RC_GTEST_PROP(LearnedQuotaProperty, NeverAdmitsBeforeEveryPromiseAllowsHoweverManyThereAre, ()) {
  drive(1000, 1000, [](Instant at, Instant expected) { RC_ASSERT(at >= expected); });
}

}  // namespace
}  // namespace weir::client
