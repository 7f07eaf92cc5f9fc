// Several limits decided together, all or nothing.
#pragma once

#include <cstddef>
#include <span>

#include "core/receipts.h"
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

inline constexpr std::size_t max_group_size = 64;

// Decides the checks of one query, at most `max_group_size`, as one step: all are charged, or none is.
// Linearizable. When one denies, the decisions of the others say what is left uncharged. True if all admit.
[[nodiscard]] bool decide_together(std::span<const Check> checks, Instant now) noexcept;

// The same, and where it admits a receipt is opened beside each state, at once with the charge. One for each check,
// null where there is none to open. A group without any is quicker by decide_together.
[[nodiscard]] bool reserve_together(std::span<const Check> checks, std::span<core::ReceiptUse* const> receipts,
                                    Instant now) noexcept;

}  // namespace weir::table
