// Decisions of the models of oracle.h. Every wait is found by trying: instant by instant where feasible, otherwise by
// bisection (room only grows for a lone caller, so the result is the same).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "tests/core/oracle.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::oracle {

// The first instant in [from, to] at which `holds` is true; it is true at `to`.
template <class Holds>
Int first_instant(Int from, Int to, Holds holds) {
  constexpr Int few = 300;
  if (to - from <= few) {
    while (from < to && !holds(from)) ++from;
    return from;
  }
  if (holds(from)) return from;
  while (to - from > 1) {
    const Int middle = from + (to - from) / 2;
    (holds(middle) ? to : from) = middle;
  }
  return to;
}

inline Duration length(Int micros) {
  return Duration{static_cast<std::int64_t>(micros)};
}

// The length of the line for a new request; zero without a line.
template <class Model>
Int wait_in_line(const Model& /*model*/, Int /*now*/) {
  return 0;
}

inline Int wait_in_line(const Queue& model, Int now) {
  return model.backlog(now);
}

template <class Model>
bool admits(const Model& model, Int cost, Int now, Int max_wait) {
  const bool can_wait = cost == 0 || wait_in_line(model, now) <= max_wait;
  return cost <= model.room(now) && can_wait;
}

// The numbers that describe the model now.
template <class Model>
void describe(Decision& decision, const Model& model, Int now, Int max_wait) {
  const bool can_wait = wait_in_line(model, now) <= max_wait;
  decision.remaining = can_wait ? static_cast<std::uint64_t>(std::max<Int>(0, model.room(now))) : 0;
  const auto at_rest = [&](Int then) { return model.room(then) == model.capacity(); };
  decision.reset_after = length(first_instant(now, model.rest_after(now), at_rest) - now);
}

// Decides and charges. `charged_at` is not set: a model has its own notion of where a charge went (`where`).
template <class Model>
Decision decide(Model& model, Cost asked, Int now, Int& where, Int max_wait = std::numeric_limits<Int>::max()) {
  const Int cost = asked.units();
  Decision decision{.limit = static_cast<std::uint64_t>(model.capacity())};
  if (admits(model, cost, now, max_wait)) {
    decision.admitted = true;
    if (cost > 0) {
      decision.delay = length(wait_in_line(model, now));
      where = model.charge(cost, now);
    }
  } else if (cost > model.capacity()) {
    decision.retry_after = std::nullopt;
  } else {
    const auto admitted_at = [&](Int then) { return admits(model, cost, then, max_wait); };
    decision.retry_after = length(first_instant(now, model.rest_after(now), admitted_at) - now);
  }
  describe(decision, model, now, max_wait);
  return decision;
}

template <class Model>
Decision peek(Model model, Cost cost, Int now, Int max_wait = std::numeric_limits<Int>::max()) {
  Int where = 0;
  return decide(model, cost, now, where, max_wait);
}

}  // namespace weir::oracle
