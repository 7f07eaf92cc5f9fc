// Windows of the calendar in a zone: day, week (from Monday), month and year. The zones are those of the system's zone
// files, read by Howard Hinnant's date library. Callable from any thread.
//
// An edge is the first instant whose local date is the new one or later. So a day may have 23 or 25 hours, one that
// begins with a gap begins at its end, and one that was left out has no window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/calendar.h"
#include "weir/result.h"

namespace weir::policy {

inline constexpr std::string_view utc = "UTC";  // needs no zone file

// There is one for each unit and zone, and it stays until the process ends. An error names zones that are near.
[[nodiscard]] Result<const core::Calendar*> find_calendar(core::CalendarUnit unit, std::string_view zone);

// What nodes have to agree on to have the same edges: a digest of the zone's offsets from 2020 to 2037, as they were
// read. Of a zone that a calendar was found for.
[[nodiscard]] std::string zone_digest(const std::string& zone);

}  // namespace weir::policy
