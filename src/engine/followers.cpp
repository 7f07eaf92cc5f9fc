#include "engine/followers.h"

#include <algorithm>

namespace weir::engine {
namespace {

using store::Fallback;
using store::Group;
using store::Operation;

}  // namespace

void Followers::add(std::size_t i, Kind kind, Operation operation, Fallback fallback) {
  const bool is_candidate = kind == Kind::candidate || kind == Kind::candidate_give_back;
  const bool gives_back = kind == Kind::give_back || kind == Kind::candidate_give_back;
  Group& group = evaluation_.new_group(operation, is_candidate ? Fallback::none : evaluation_.later(fallback));
  const auto [states, rule] = target_of(i, is_candidate);
  asked_.add_check(group, i, states, rule, gives_back ? Cost{0} : asked_.outcomes[i].cost);
  followers_.push_back({static_cast<std::uint32_t>(i), kind});
}

void Followers::read() {
  corrections_.clear();
  const auto groups = evaluation_.take_answers();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto [i, kind] = followers_[g];
    if (!groups[g].decided) continue;
    const Decision& decision = groups[g].checks[0].decision;
    switch (kind) {
      case Kind::candidate:
        asked_.outcomes[i].candidate = decision;
        break;
      case Kind::shadow:
        asked_.outcomes[i].decision = decision;
        break;
      case Kind::shadow_descriptor:
        asked_.outcomes[i].decision = decision;
        charge_shadow(i, groups[g]);
        break;
      case Kind::give_back:
        asked_.outcomes[i].decision = decision;
        give_back(i, false, groups[g]);
        break;
      case Kind::candidate_give_back:
        give_back(i, true, groups[g]);
        break;
      case Kind::charge:
        read_charge(i, groups[g]);
        break;
    }
  }
}

// Updates the numbers of the decision and leaves `admitted` unchanged.
void Followers::read_charge(std::size_t i, const Group& group) noexcept {
  const Decision& after = group.checks[0].decision;
  Decision& decision = asked_.outcomes[i].decision;
  decision.remaining = after.remaining;
  decision.reset_after = after.reset_after;
}

// The new group may reuse the memory of `asked`.
Group& Followers::new_correction(Operation operation, const Group& asked) {
  const store::Failure failure = asked.failure;
  Group& group = evaluation_.new_group(operation, failure == store::Failure::none ? Fallback::none : Fallback::at_once);
  group.failure = failure;
  return group;
}

void Followers::charge_shadow(std::size_t i, const Group& asked) {
  const Outcome& outcome = asked_.outcomes[i];
  if (asked.operation != Operation::decide || outcome.decision.admitted || outcome.cost <= Cost{1}) return;
  asked_.add_check(new_correction(Operation::report, asked), i, outcome.cost);
  corrections_.push_back({static_cast<std::uint32_t>(i), Cost{0}});
}

// Gives back the cost, but no more than was used, and updates what remains. If nothing remains, usage may exceed the
// limit by an amount unknown here, so the whole cost is sent: the core gives back no more than was used.
void Followers::give_back(std::size_t i, bool is_candidate, const Group& looked) {
  Decision of_candidate = looked.checks[0].decision;
  const Cost cost = asked_.outcomes[i].cost;
  Decision& decision = is_candidate ? of_candidate : asked_.outcomes[i].decision;
  const std::uint64_t used = decision.limit - decision.remaining;
  const Cost given{decision.remaining == 0 ? cost.units() : std::min(cost.units(), used)};
  const core::Charged charged = core::charged_by(decision);  // the newest charge
  decision.remaining += std::min(given.units(), used);
  if (decision.remaining == decision.limit) decision.reset_after = Duration::zero();
  core::admit_again(decision);
  if (given == Cost{0}) return;
  Group& group = new_correction(Operation::settle, looked);
  const auto [states, rule] = target_of(i, is_candidate);
  asked_.add_check(group, i, states, rule, Cost{1}).receipt = nullptr;
  group.settlement = core::Settlement{given, Cost{0}, charged};
  corrections_.push_back({static_cast<std::uint32_t>(i), is_candidate ? Cost{0} : given});
}

// What remains is taken from the store's answer: the store refunds only what it has charged, not units leased to other
// nodes. After a failed refund the units stay charged.
void Followers::read_corrections() {
  const auto groups = evaluation_.take_answers();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const auto [i, given] = corrections_[g];
    Decision& decision = asked_.outcomes[i].decision;
    if (group.operation == Operation::report) {
      if (group.decided) read_charge(i, group);
    } else if (given == Cost{0}) {
      continue;  // a candidate's outcome is not updated
    } else if (!group.decided) {
      decision.remaining -= std::min(decision.remaining, given.units());
    } else if (!core::is_concurrency(*group.checks[0].rule)) {
      decision.remaining = group.checks[0].decision.remaining;
    }
  }
}

}  // namespace weir::engine
