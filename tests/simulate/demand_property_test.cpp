// The demand of a consumer, compared with the algorithms: with that number the limit admits a whole trace, with one
// less it does not.
#include "simulate/demand.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

#include "core/rule.h"

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;

struct Request {
  Instant at;
  Cost cost;
};
using Trace = std::vector<Request>;

// Bursts and pauses fill and empty windows and buckets.
Trace any_trace() {
  const auto steps = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 100), rc::gen::inRange(1, 4))));
  Trace trace;
  Instant at{1'700'000'000s + Duration{*rc::gen::inRange(0, 60'000'000)}};
  for (const auto& [step, cost] : steps) {
    const Duration gap = step < 60 ? Duration{step * 1'000} : step < 95 ? Duration{step * 100'003} : 40s;
    at += gap;
    trace.push_back({at, Cost{static_cast<std::uint64_t>(cost)}});
  }
  return trace;
}

bool admits_all(const Limit& limit, const Trace& trace) {
  return std::visit(
      [&]<class A>(const core::RuleOf<A>& rule) {
        typename A::State state{};
        for (const Request& request : trace) {
          if (!A::decide(rule.limit, state, request.cost, request.at).admitted) return false;
        }
        return true;
      },
      core::compile(limit));
}

template <class Demand>
Needs needs_of(const Limit& limit, const Trace& trace) {
  Demand demand;
  for (const Request& request : trace) demand.add(limit, request.cost, request.at);
  return demand.needs();
}

template <class Demand, class MakeLimit>
void check_exact(const Trace& trace, const MakeLimit& with_number) {
  const std::uint64_t need = needs_of<Demand>(with_number(1).value(), trace)[0];
  RC_ASSERT(admits_all(with_number(need).value(), trace));
  if (need > 1) RC_ASSERT(!admits_all(with_number(need - 1).value(), trace));
}

RC_GTEST_PROP(DemandProperty, BurstOfABucketIsExactAtEachRate, ()) {
  const Trace trace = any_trace();
  const Rate rate{static_cast<std::uint64_t>(*rc::gen::inRange(1, 50)), Duration{*rc::gen::inRange(1'000, 9'000'000)}};
  const Needs needs = needs_of<BucketDemand>(Limit::token_bucket({rate, 1}).value(), trace);
  for (std::size_t i = 0; i < rate_multiples.size(); ++i) {
    const Rate raised{rate.count * rate_multiples[i], rate.per};
    RC_ASSERT(admits_all(Limit::token_bucket({raised, needs[i]}).value(), trace));
    if (needs[i] > 1) RC_ASSERT(!admits_all(Limit::token_bucket({raised, needs[i] - 1}).value(), trace));
  }
}

RC_GTEST_PROP(DemandProperty, LimitOfAFixedWindowIsExact, ()) {
  const Duration window{*rc::gen::inRange(1'000, 60'000'000)};
  check_exact<FixedWindowDemand>(any_trace(), [&](std::uint64_t n) { return Limit::fixed_window({n, window}); });
}

RC_GTEST_PROP(DemandProperty, LimitOfASlidingCounterIsExact, ()) {
  const Duration window{*rc::gen::inRange(1'000, 60'000'000)};
  check_exact<SlidingCounterDemand>(any_trace(),
                                    [&](std::uint64_t n) { return Limit::sliding_window_counter({n, window}); });
}

std::uint64_t max_within(const Trace& trace, Duration length) {
  std::uint64_t most = 0;
  for (std::size_t last = 0; last < trace.size(); ++last) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i <= last; ++i) {
      if (trace[last].at - trace[i].at < length) sum += trace[i].cost.units();
    }
    most = std::max(most, sum);
  }
  return most;
}

RC_GTEST_PROP(DemandProperty, LimitOfASlidingLogIsBetweenTheExactOneAndThatOfNineEighths, ()) {
  const Trace trace = any_trace();
  const Duration window{*rc::gen::inRange(1'000, 60'000'000)};
  const std::uint64_t need = needs_of<SlidingLogDemand>(Limit::sliding_window_log({1, window}).value(), trace)[0];
  RC_ASSERT(admits_all(Limit::sliding_window_log({need, window}).value(), trace));
  const Duration eighth = (window + 7us) / 8;
  RC_ASSERT(need >= max_within(trace, window));
  RC_ASSERT(need <= max_within(trace, eighth * 9));
}

TEST(Demand, HugeCostsAreCappedNotWrapped) {
  const Limit slow = Limit::token_bucket({{1, Limit::max_duration}, 1}).value();
  BucketDemand demand;
  for (int i = 0; i < 3; ++i) demand.add(slow, Cost{~std::uint64_t{0}}, Instant{1s});
  EXPECT_GT(demand.needs()[0], 1'000U);
}

}  // namespace
}  // namespace weir::simulate
