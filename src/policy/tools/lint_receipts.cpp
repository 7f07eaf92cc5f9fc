#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "policy/rules.h"
#include "policy/tools/lint_rules.h"
#include "policy/words.h"

namespace weir::policy::lint_rules {
namespace {

// The sizes of a sealed receipt and its parts, as engine/receipt.h writes them with a shared store that hashes
// consumers.
constexpr std::size_t max_receipt_bytes = 348;
constexpr std::size_t receipt_head_bytes = 27;
constexpr std::size_t receipt_limit_bytes = 17;
constexpr std::size_t receipt_consumer_bytes = 24;

bool is_held(const CompiledLimit& limit) {
  return limit.algorithm == PolicyAlgorithm::concurrency;
}

// True if concurrency limits cover all routes of the limit.
bool is_bounded_by_holds(const Subject& subject) {
  const auto bounds = [&](const RouteIndex::Entry& entry) {
    return entry.limit != nullptr && is_held(*entry.limit) && entry.limit->mode == Mode::enforce &&
           entry.limit->when.kind == When::Kind::always;
  };
  return is_covered(subject, bounds);
}

// The limits without the condition `not_by`, all of which one caller, known or anonymous, can meet.
std::vector<const CompiledLimit*> met_by(const std::set<const CompiledLimit*>& limits, When::Kind not_by) {
  std::vector<const CompiledLimit*> met;
  for (const CompiledLimit* limit : limits) {
    if (limit->when.kind != not_by) met.push_back(limit);
  }
  return met;
}

bool fits_a_receipt(const std::vector<const CompiledLimit*>& limits) {
  std::set<std::string> consumers;
  for (const CompiledLimit* limit : limits) consumers.insert(text_of(limit->consumer_key));
  return receipt_head_bytes + limits.size() * receipt_limit_bytes + consumers.size() * receipt_consumer_bytes <=
         max_receipt_bytes;
}

bool uses_receipts(const Ruleset& ruleset) {
  return std::ranges::any_of(
      ruleset.limits, [](const CompiledLimit& limit) { return is_held(limit) || limit.usage == Usage::reserved; });
}

// Warns at the first of the limits that cover the route. Returns false if their receipt fits.
bool warn_of_size(const Subject& subject, const RouteTemplate& route, Problems& problems) {
  std::set<const CompiledLimit*> covering;
  (void)subject.index.find_covering(route, [&](const RouteIndex::Entry& entry) {
    if (entry.limit != nullptr) covering.insert(entry.limit);
    return false;
  });
  for (const When::Kind not_by : {When::Kind::anonymous, When::Kind::authenticated}) {
    const std::vector<const CompiledLimit*> met = met_by(covering, not_by);
    if (met.empty() || met.front() != &subject.limit || fits_a_receipt(met)) continue;
    problems.warning(subject.written.name.at, rule::receipt_size,
                     "'{}' is one of {} limits that cover {}: the receipt of a reserve on all of them would exceed 512 "
                     "characters, so the reserve is rejected; let fewer limits cover it (about ten fit)",
                     subject.limit.name, met.size(),
                     route == RouteIndex::every_request() ? "every request" : route.text());
    return true;
  }
  return false;
}

}  // namespace

// `reserved` needs no warning: no field of a policy bounds what a caller reserves.
void usage(const Subject& subject, Problems& problems) {
  if (subject.limit.usage != Usage::reported || !subject.written.usage || is_bounded_by_holds(subject)) return;
  problems.warning(subject.written.usage->at, rule::unbounded_usage,
                   "'{}' has 'usage: reported': nothing counts before it is reported, so callers can overspend by "
                   "everything in flight; add a concurrency limit on the same routes, or use 'usage: reserved'",
                   subject.limit.name);
}

void receipt_size(const Subject& subject, Problems& problems) {
  if (!uses_receipts(subject.ruleset)) return;
  for (const RouteTemplate& route : RouteIndex::routes_of(subject.limit)) {
    if (warn_of_size(subject, route, problems)) return;
  }
}

}  // namespace weir::policy::lint_rules
