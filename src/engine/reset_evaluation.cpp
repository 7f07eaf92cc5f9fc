#include "engine/reset_evaluation.h"

#include <algorithm>

#include "store/shared/shared_terms.h"

namespace weir::engine {
namespace {

using store::Check;
using store::Group;
using store::States;

}  // namespace

void ResetEvaluation::begin(const Bindings& bindings, const BoundLimit& limit, std::string_view key,
                            std::string_view text, Instant now) {
  start(bindings, now, &ResetEvaluation::read);
  for (const auto& states : limit.live) forget(states, key, text);
  for (const auto& states : limit.candidate) forget(states, key, text);
  forget(limit.warnings, key, text);
  forget(limit.denials, key, text);
  forget(limit.block, key, text);
}

// Adds one group for each state, since the tiers of a limit may have different windows. Also adds one for each slice
// table, so that units leased to this process are no longer spent.
void ResetEvaluation::forget(const std::optional<States>& states, std::string_view key, std::string_view text) {
  if (!states) return;
  const auto is_known = [&](const Group& group) {
    const States& known = *group.checks[0].states;
    const store::SliceTable* const slices = store::slices_of(*states);
    return known.table == states->table && (slices == nullptr || store::slices_of(known) == slices);
  };
  if (std::ranges::any_of(prepared(), is_known)) return;
  Check& check = next_check(new_group(store::Operation::forget, store::Fallback::none));
  check = Check{};
  check.states = &*states;
  check.rule = &states->rule;
  check.hash = states->table->hash(key);
  check.holdings = &result().holdings;
  if (states->name != nullptr) bindings().shared_keys()->write(*states->name, text, check.key);
}

void ResetEvaluation::read() {
  outcome_ = Outcome::done;
  for (const Group& group : take_answers()) {
    if (group.failure != store::Failure::none) outcome_ = Outcome::unanswered;
    if (outcome_ == Outcome::done && !group.admitted) outcome_ = Outcome::shared;
  }
}

}  // namespace weir::engine
