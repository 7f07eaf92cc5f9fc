// From one table to another: when new numbers need wider cells than the old table has.
#pragma once

#include "core/rule.h"
#include "table/table.h"
#include "weir/time.h"

namespace weir::table {

// Brings every live state of `from` to `to`, which has the same algorithm and hash key. Nobody decides on either
// meanwhile. Shared overflow states come along; a state for which `to` has no room shares one there.
void move_states(Table& from, const core::Rule& from_rule, Table& to, const core::Rule& to_rule, Instant now);

}  // namespace weir::table
