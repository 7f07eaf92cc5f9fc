#include "simulate/shared_states.h"

#include <algorithm>

namespace weir::simulate {

using store::Check;
using store::Group;

void SharedStates::decide(Group& group, Instant now) {
  make_room(now);
  group.failure = store::Failure::none;
  group.decided = true;
  group.now = now;
  of_checks_.clear();
  for (const Check& check : group.checks) of_checks_.push_back(&states_[check.key]);
  decider_.decide(group, of_checks_, now);
  contended_denials_.clear();
  for (std::size_t i = 0; i < group.checks.size(); ++i) {
    const Check& check = group.checks[i];
    store::SharedState& state = *of_checks_[i];
    if (group.operation == store::Operation::decide && !check.decision.admitted &&
        store::is_admitted_without_slices(check, state, now)) {
      contended_denials_.push_back(&check);
    }
    static_cast<State&>(state).expires_at = state.forget_at(*check.rule);
  }
}

// Removes expired states whenever the map has doubled, so that the amortized cost per state is small.
void SharedStates::make_room(Instant now) {
  if (states_.size() < sweep_at_) return;
  std::erase_if(states_, [&](const auto& entry) { return entry.second.expires_at <= core::micros(now); });
  has_too_many_ = has_too_many_ || states_.size() > max_states_;
  sweep_at_ = std::max(std::size_t{1} << 16, 2 * states_.size());
}

}  // namespace weir::simulate
