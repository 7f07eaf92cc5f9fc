// Several limits decided together, all or nothing.
#pragma once

#include <cstddef>
#include <span>

#include "core/rule.h"
#include "table/table.h"
#include "weir/decision.h"

namespace weir::table {

// One limit's part in a query, and where its decision goes.
struct Check {
  Table* table;
  const core::Rule* rule;
  HashedRequest request;
  Decision* decision;
};

inline constexpr std::size_t most_together = 64;

// Decides the checks of one query, at most `most_together`, as one step: all are charged, or none is.
// Linearizable. When one denies, the decisions of the others say what is left uncharged. True if all admit.
[[nodiscard]] bool decide_together(std::span<const Check> checks, Instant now) noexcept;

}  // namespace weir::table
