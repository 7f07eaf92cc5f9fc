// Settings for the states of a limit on a shared store. Each store around the shared one reads its part. Created by the
// owner of the policy; immutable, and must outlive every check that refers to the states.
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
  Cost max_cost{1};  // of a request
};

struct SharedTerms {
  // Read by OutageStore: the limit that this process applies while the store is unavailable. The alternatives are the
  // whole limit, a fixed rule, and an equal share of a limit that is divided by the number of nodes.
  std::variant<std::monostate, core::Rule, NodeShare> share{};
  bool charges_back = false;  // units admitted this way are charged to the store when it is available again

  // Read by LeasedStore: the slices that this process holds; null: the store decides every check.
  SliceTable* slices = nullptr;
};

[[nodiscard]] inline SliceTable* slices_of(const States& states) noexcept {
  return states.shared == nullptr ? nullptr : states.shared->slices;
}

}  // namespace weir::store
