#include <chrono>
#include <string_view>

#include <fmt/core.h>

#include "policy/consistency.h"
#include "policy/rules.h"
#include "policy/tools/lint_rules.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

std::string_view name_of_size(const Limit& numbers) {
  return numbers.algorithm() < Algorithm::fixed_window ? "burst" : "limit";
}

// What the number of nodes is to be, in a warning that depends on it.
constexpr std::string_view nodes_advice = "set store.redis.nodes in weir.yaml to as many nodes as there are at most";

// Reasons that are those of all tiers alike.
void warn_of_whole(const Subject& subject, WhyExact why, Problems& problems) {
  const std::string_view written = name_of(subject.limit.consistency.kind);
  const Mark at = subject.written.consistency.at;
  if (why == WhyExact::shadow) {
    problems.warning(at, rule::no_effect_in_shadow,
                     "'{}' has 'consistency: {}', which does nothing in 'mode: shadow': what is only watched is "
                     "decided exactly; leave it out until the limit is enforced",
                     subject.limit.name, written);
    return;
  }
  problems.warning(at, rule::exact_anyway,
                   "'{}' is {}, so that nodes cannot hold slices of it: 'consistency: {}' is decided exactly; use "
                   "'consistency: exact', or another algorithm",
                   subject.limit.name,
                   why == WhyExact::queue ? "a queue, where each request has a turn of its own"
                                          : "a sliding_window_log, where each request counts from its own instant",
                   written);
}

void warn_of_calendar(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(subject.written.consistency.at, rule::exact_anyway,
                   "{} has windows of the calendar, of which nodes cannot hold slices: 'consistency: {}' is decided "
                   "exactly; use 'consistency: exact', or a window of one length, like 1000/30day",
                   tier.who, name_of(subject.limit.consistency.kind));
}

void warn_of_small(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(subject.written.consistency.at, rule::exact_anyway,
                   "{} has a {} of {}: below {} there is too little to hold slices of, and 'consistency: {}' is "
                   "decided exactly; use 'consistency: exact', or raise the {}",
                   tier.who, name_of_size(tier.limit), tier.limit.capacity(), min_divided,
                   name_of(subject.limit.consistency.kind), name_of_size(tier.limit));
}

void warn_of_no_allowance(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(subject.written.consistency.at, rule::approximate_nodes,
                   "{} has a {} of {}, less than 4 for each of {} nodes: no node may spend anything unasked, and "
                   "'consistency: approximate' is decided exactly; use 'consistency: leased', or {}",
                   tier.who, name_of_size(tier.limit), tier.limit.capacity(), subject.nodes, nodes_advice);
}

void warn_of_steady_error(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  const Limit& numbers = tier.limit;
  const Duration sync = subject.limit.consistency.sync;
  const SteadyError error = steady_error(numbers, sync, subject.nodes);
  const Mark at = subject.written.consistency.at;
  if (!error.is_large_enough) {
    problems.warning(at, rule::approximate_nodes,
                     "{} has a {} of {}: that approximate is within 1 % of it is promised from {} on, 250 for each of "
                     "{} nodes; use 'consistency: leased' if that matters, or {}",
                     tier.who, name_of_size(numbers), numbers.capacity(), error.min_limit, subject.nodes, nodes_advice);
  }
  if (!error.is_long_enough) {
    const std::string_view span = numbers.algorithm() < Algorithm::fixed_window ? "fills in" : "has a window of";
    problems.warning(at, rule::approximate_sync,
                     "{} {} {}: that approximate is within 1 % of it is promised from {} on, 10 times the sync of {}; "
                     "use a shorter sync, or 'consistency: leased'",
                     tier.who, span, duration_text(std::chrono::ceil<std::chrono::milliseconds>(error.per)),
                     duration_text(error.min_per), duration_text(sync));
  }
}

}  // namespace

void consistency(const Subject& subject, Problems& problems) {
  for (const TierNumbers& tier : all_numbers(subject)) {
    const EffectiveConsistency effective = effective_consistency(subject.limit, tier.limit, subject.nodes);
    switch (effective.why_exact) {
      case WhyExact::written:
        return;
      case WhyExact::shadow:
      case WhyExact::queue:
      case WhyExact::log:
        return warn_of_whole(subject, effective.why_exact, problems);
      case WhyExact::calendar:
        warn_of_calendar(subject, tier, problems);
        break;
      case WhyExact::small:
        warn_of_small(subject, tier, problems);
        break;
      case WhyExact::no_allowance:
        warn_of_no_allowance(subject, tier, problems);
        break;
      case WhyExact::not_exact:
        if (effective.kind == Consistency::approximate) warn_of_steady_error(subject, tier, problems);
    }
  }
}

}  // namespace weir::policy::lint_rules
