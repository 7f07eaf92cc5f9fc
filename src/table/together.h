// Several limits decided together, all or nothing.
#pragma once

#include <cstddef>
#include <span>

#include "core/receipts.h"
#include "core/rule.h"
#include "table/table.h"
#include "weir/decision.h"

namespace weir::table {

// One limit's part in a query, and where its decision is stored.
struct Check {
  Table* table;
  const core::Rule* rule;
  HashedRequest request;
  Decision* decision;
};

inline constexpr std::size_t max_group_size = 64;

// Decides the checks of one query, at most `max_group_size`, atomically: all are charged, or none is. Linearizable. If
// one denies, the decisions of the others report what remains without the charge. Returns true if all admit.
[[nodiscard]] bool decide_together(std::span<const Check> checks, Instant now) noexcept;

// Like decide_together, but if admitted opens receipts atomically with the charges. `receipts` has one entry per check,
// null where none is opened. For a group without receipts decide_together is faster.
[[nodiscard]] bool reserve_together(std::span<const Check> checks, std::span<core::ReceiptUse* const> receipts,
                                    Instant now) noexcept;

}  // namespace weir::table
