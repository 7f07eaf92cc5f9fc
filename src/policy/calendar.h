// Calendar windows in a time zone: day, week (from Monday), month and year. Zones come from the system's zone files,
// read by Howard Hinnant's date library. Thread-safe.
//
// An edge is the first instant whose local date is the new one or later. So a day may have 23 or 25 hours, a day that
// begins in a gap begins at the gap's end, and a skipped day has no window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/calendar.h"
#include "weir/result.h"

namespace weir::policy {

inline constexpr std::string_view utc = "UTC";  // needs no zone file

// Returns the one calendar for this unit and zone, which is never destroyed. An error suggests similar zones.
[[nodiscard]] Result<const core::Calendar*> find_calendar(core::CalendarUnit unit, std::string_view zone);

// Returns a digest of the zone's offsets from 2020 to 2037, as read. Nodes with equal digests have the same edges.
// find_calendar() must have found the zone.
[[nodiscard]] std::string zone_digest(const std::string& zone);

}  // namespace weir::policy
