// The number that a bound proves, compared with an exhaustive search over all request sequences, on the core's own
// decisions: no sequence gets more, and some sequence gets as many.
#include "policy_test/max_admitted.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/rule.h"

namespace weir::policy_test {
namespace {

// A multiple of every window below, so that windows begin here.
constexpr Instant epoch{Duration{60'000'000'000'000}};
constexpr std::int64_t max_per = 5;

using Requests = std::vector<std::uint64_t>;  // by instant
// Whether a limit admits one more request at the last instant, after all requests before, which it has admitted.
using Admits = std::function<bool(const Requests&)>;

// The state is rebuilt from the requests, because some cannot be copied. `begin` is the first instant.
Admits admits_by(const Limit& limit, Cost cost, std::int64_t begin) {
  return [rule = core::compile(limit), cost, begin](const Requests& requests) {
    return core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
      typename A::State state{};
      const auto at = [&](std::size_t i) { return epoch + Duration{begin + static_cast<std::int64_t>(i)}; };
      for (std::size_t i = 0; i < requests.size(); ++i) {
        for (std::uint64_t n = 0; n < requests[i]; ++n) (void)A::decide(of.limit, state, cost, at(i));
      }
      return A::decide(of.limit, state, cost, at(requests.size() - 1)).admitted;
    });
  };
}

// Tries every number of requests at every instant of `lead` and then `span` instants, and returns the most that all
// limits together admit within the span.
class Search {
 public:
  Search(std::vector<Admits> limits, std::int64_t lead, std::int64_t span)
      : limits_(std::move(limits)), lead_(lead), end_(lead + span) {}

  std::uint64_t run() {
    visit(0, 0);
    return best_;
  }

 private:
  void visit(std::int64_t instant, std::uint64_t admitted) {
    if (instant == end_) {
      best_ = std::max(best_, admitted);
      return;
    }
    requests_.push_back(0);
    visit(instant + 1, admitted);
    while (std::ranges::all_of(limits_, [&](const Admits& admits) { return admits(requests_); })) {
      ++requests_.back();
      admitted += instant >= lead_ ? 1 : 0;
      visit(instant + 1, admitted);
    }
    requests_.pop_back();
  }

  std::vector<Admits> limits_;
  std::int64_t lead_;
  std::int64_t end_;
  Requests requests_;
  std::uint64_t best_ = 0;
};

// The most over all positions of the span within the windows.
std::uint64_t searched(const std::vector<Limit>& limits, Cost cost, std::int64_t span, std::int64_t lead) {
  std::uint64_t best = 0;
  for (std::int64_t begin = 0; begin < max_per; ++begin) {
    std::vector<Admits> admits;
    for (const Limit& limit : limits) admits.push_back(admits_by(limit, cost, begin));
    best = std::max(best, Search(std::move(admits), lead, span).run());
  }
  return best;
}

struct Small {
  std::uint64_t limit;
  std::int64_t per;
  std::uint64_t count;  // of a bucket's rate
  Cost cost;
  std::int64_t span;
  std::int64_t lead;
};

Small any_small() {
  Small small{.limit = *rc::gen::inRange<std::uint64_t>(1, 4),
              .per = *rc::gen::inRange<std::int64_t>(1, max_per + 1),
              .count = *rc::gen::inRange<std::uint64_t>(1, 3),
              .cost = Cost{*rc::gen::weightedElement<std::uint64_t>({{4, 1}, {2, 2}, {1, 3}})},
              .span = *rc::gen::inRange<std::int64_t>(1, 7),
              .lead = *rc::gen::inRange<std::int64_t>(0, 3)};
  return small;
}

// The search is exponential in what is admitted.
constexpr std::uint64_t max_searched = 6;

void expect_exact(const Result<Limit>& limit, const Small& small) {
  RC_PRE(limit.has_value());
  const auto proved = max_admitted(*limit, small.cost, {Duration{small.span}, {}});
  RC_ASSERT(proved.has_value());
  RC_PRE(*proved <= max_searched);
  RC_ASSERT(static_cast<std::uint64_t>(*proved) == searched({*limit}, small.cost, small.span, small.lead));
}

RC_GTEST_PROP(MaxAdmitted, IsExactForAFixedWindow, ()) {
  const Small small = any_small();
  expect_exact(Limit::fixed_window({small.limit, Duration{small.per}}), small);
}

RC_GTEST_PROP(MaxAdmitted, IsExactForASlidingWindowLog, ()) {
  const Small small = any_small();
  expect_exact(Limit::sliding_window_log({small.limit, Duration{small.per}}), small);
}

RC_GTEST_PROP(MaxAdmitted, IsExactForASlidingWindowCounter, ()) {
  const Small small = any_small();
  expect_exact(Limit::sliding_window_counter({small.limit, Duration{small.per}}), small);
}

// False for a bucket that refills more than burst - cost in a microsecond, for which the number is an upper bound.
bool leaves_room(const Small& small) {
  const std::uint64_t cost = small.cost.units();
  return small.limit <= cost || small.count <= (small.limit - cost) * static_cast<std::uint64_t>(small.per);
}

RC_GTEST_PROP(MaxAdmitted, IsExactForATokenBucket, ()) {
  const Small small = any_small();
  RC_PRE(leaves_room(small));
  expect_exact(Limit::token_bucket({{small.count, Duration{small.per}}, small.limit}), small);
}

RC_GTEST_PROP(MaxAdmitted, IsExactForAQueue, ()) {
  const Small small = any_small();
  RC_PRE(leaves_room(small));
  expect_exact(Limit::leaky_bucket(QueueNumbers{{small.count, Duration{small.per}}, small.limit - 1}), small);
}

// Of several limits the smallest number is proved. It is never exceeded.
RC_GTEST_PROP(MaxAdmitted, IsNeverExceededByTwoLimitsTogether, ()) {
  const Small small = any_small();
  const Small other = any_small();
  const auto log = Limit::sliding_window_log({small.limit, Duration{small.per}});
  const auto bucket = Limit::token_bucket({{other.count, Duration{other.per}}, other.limit});
  RC_PRE(log.has_value() && bucket.has_value());
  const Span span{Duration{small.span}, {}};
  const Wide proved =
      std::min(max_admitted(*log, small.cost, span).value(), max_admitted(*bucket, small.cost, span).value());
  RC_PRE(proved <= max_searched);
  RC_ASSERT(searched({*log, *bucket}, small.cost, small.span, small.lead) <= proved);
}

}  // namespace
}  // namespace weir::policy_test
