#include "engine/shared_commands.h"

#include <algorithm>
#include <string>

namespace weir::engine {

using store::SharedAsk;
using store::SharedOperation;
using store::StoreFailure;

void SharedThrottle::begin(const Plan& plan, std::string_view key, const core::Gcra::Limit& limit, Cost quantity) {
  rule_ = core::RuleOf<core::Gcra>{limit};
  decision_.reset();
  start();
  store::SharedCheck& check = new_ask(SharedOperation::decide).checks.emplace_back();
  plan.shared_keys()->write(plan.throttle_name(), key, check.key);
  check.rule = &rule_;
  check.cost = quantity;
  go_on();
}

bool SharedThrottle::step() {
  const SharedAsk& answer = ask(0);
  at_ = answer.now;
  const bool is_judged = answer.failure == StoreFailure::none;
  if (is_judged) decision_ = answer.answers[0].decision;
  room_.paths.raise(is_judged ? StorePath::shared : StorePath::local);  // who asked judges it himself
  return false;
}

// One ask for each state: they are of one consumer, but a live limit's windows may differ between tiers.
void SharedReset::begin(const Plan& plan, const PlannedLimit& limit, std::string_view consumer) {
  start();
  std::vector<const store::SharedName*> names;
  const auto forget = [&](const std::optional<TableRule>& rule) {
    if (!rule || std::ranges::find(names, rule->name) != names.end()) return;
    names.push_back(rule->name);
    add_check(new_ask(SharedOperation::forget), plan, *rule, consumer);
  };
  std::ranges::for_each(limit.live, forget);
  std::ranges::for_each(limit.candidate, forget);
  forget(limit.warnings);
  forget(limit.denials);
  forget(limit.block);
  result_ = {};
  go_on();
}

bool SharedReset::step() {
  for (std::size_t i = 0; i < asks(); ++i) {
    if (ask(i).failure != StoreFailure::none) {
      result_ = failure("store", "is away, and the consumer may not be forgotten there: try again when it is back");
    }
  }
  return false;
}

}  // namespace weir::engine
