#include <chrono>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "core/rule.h"
#include "policy/consistency.h"
#include "policy/rules.h"
#include "policy/tools/lint_rules.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

std::string_view name_of_size(const Limit& numbers) {
  return numbers.algorithm() < Algorithm::fixed_window ? "burst" : "limit";
}

constexpr std::string_view nodes_advice = "set store.redis.nodes in weir.yaml to the maximum number of nodes";

// Warns if the limit is decided exactly for a reason that applies to all tiers.
void warn_of_whole(const Subject& subject, WhyExact why, Problems& problems) {
  const std::string_view written = name_of(subject.limit.consistency.kind);
  const Mark at = subject.written.consistency.at;
  if (why == WhyExact::shadow) {
    problems.warning(at, rule::no_effect_in_shadow,
                     "'{}' has 'consistency: {}', which has no effect in 'mode: shadow': a shadow limit is decided "
                     "exactly; remove it until the limit is enforced",
                     subject.limit.name, written);
    return;
  }
  problems.warning(at, rule::exact_anyway,
                   "'{}' has 'consistency: {}', but is decided exactly: a {} cannot be divided into slices; use "
                   "'consistency: exact', or another algorithm",
                   subject.limit.name, written, why == WhyExact::queue ? "queue" : "sliding_window_log");
}

void warn_of_calendar(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(subject.written.consistency.at, rule::exact_anyway,
                   "{} has 'consistency: {}', but is decided exactly: a calendar window cannot be divided into slices; "
                   "use 'consistency: exact', or a window of fixed length, like 1000/30day",
                   tier.who, name_of(subject.limit.consistency.kind));
}

void warn_of_small(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(subject.written.consistency.at, rule::exact_anyway,
                   "{} has 'consistency: {}', but is decided exactly: a {} of {} is too small to be divided into "
                   "slices; use 'consistency: exact', or raise the {} to at least {}",
                   tier.who, name_of(subject.limit.consistency.kind), name_of_size(tier.limit), tier.limit.capacity(),
                   name_of_size(tier.limit), min_divided);
}

void warn_of_no_allowance(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(
      subject.written.consistency.at, rule::approximate_nodes,
      "{} has 'consistency: approximate', but is decided exactly: a {} of {} is less than 4 for each of {} "
      "nodes; use 'consistency: leased', or {}",
      tier.who, name_of_size(tier.limit), tier.limit.capacity(), subject.nodes, nodes_advice);
}

std::string span_of(const Limit& numbers) {
  const Duration per = std::chrono::ceil<std::chrono::milliseconds>(core::time_to_fill(numbers));
  const std::string_view span = numbers.algorithm() < Algorithm::fixed_window ? "fills in" : "has a window of";
  return fmt::format("{} {}", span, duration_text(per));
}

void warn_of_brief(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  problems.warning(subject.written.consistency.at, rule::approximate_sync,
                   "{} {}, but 'consistency: approximate' needs at least {}, 10 times the minimum sync: it is decided "
                   "exactly; use 'consistency: exact' or 'leased'",
                   tier.who, span_of(tier.limit), duration_text(10 * min_sync));
}

void warn_of_steady_error(const Subject& subject, const TierNumbers& tier, Problems& problems) {
  const Limit& numbers = tier.limit;
  const Duration sync = subject.limit.consistency.sync;
  const SteadyError error = steady_error(numbers, subject.nodes);
  const Mark at = subject.written.consistency.at;
  if (!error.is_large_enough) {
    problems.warning(at, rule::approximate_nodes,
                     "{} has a {} of {}: below {} (250 for each of {} nodes), 'consistency: approximate' may be off by "
                     "more than 1 %; use 'consistency: leased' if that matters, or {}",
                     tier.who, name_of_size(numbers), numbers.capacity(), error.min_limit, subject.nodes, nodes_advice);
  }
  if (const Duration effective = effective_sync(subject.limit, numbers); effective < sync) {
    problems.warning(
        at, rule::approximate_sync,
        "{} {}, less than 10 times the sync of {}: nodes exchange counts every {} instead; write 'sync: {}ms'",
        tier.who, span_of(numbers), duration_text(sync), duration_text(effective),
        std::chrono::floor<std::chrono::milliseconds>(effective).count());
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
      case WhyExact::brief:
        warn_of_brief(subject, tier, problems);
        break;
      case WhyExact::not_exact:
        if (effective.kind == Consistency::approximate) warn_of_steady_error(subject, tier, problems);
    }
  }
}

}  // namespace weir::policy::lint_rules
