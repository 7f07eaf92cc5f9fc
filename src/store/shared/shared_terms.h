// What is declared for the states of a limit on a shared store. Each store around that one reads its part. Made by
// whoever knows the policy; immutable, and kept for as long as a check names the states.
#pragma once

#include <variant>

#include "core/rule.h"
#include "store/store.h"
#include "weir/cost.h"
#include "weir/limit.h"

namespace weir::store {

class SliceTable;

// A limit of which each node admits an equal share.
struct NodeShare {
  Limit limit;
  Cost largest_cost{1};  // that a request can have
};

struct SharedTerms {
  // Read by OutageStore. What this process admits while the store is unavailable: the whole limit, that of a rule, or
  // its part of a limit that is divided by the number of nodes.
  std::variant<std::monostate, core::Rule, NodeShare> share{};
  bool charges_back = false;  // what was admitted so is charged to the store when it is back

  // Read by LeasedStore. The slices that this process holds; null: the store decides every check.
  SliceTable* slices = nullptr;
};

[[nodiscard]] inline SliceTable* slices_of(const States& states) noexcept {
  return states.shared == nullptr ? nullptr : states.shared->slices;
}

}  // namespace weir::store
