// Times that a client is told beside a decision: until more is left, and how long a limit takes to fill.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan.h"
#include "engine/verdict.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::engine {

// Until more remains than the outcome says, if nobody else asks meanwhile; nothing if all is there. Never too early,
// and for buckets at most a microsecond too late. `tier` and `now` are those of the query.
[[nodiscard]] std::optional<Duration> until_more(const Plan& plan, const Outcome& outcome, std::uint32_t tier,
                                                 Instant now) noexcept;

// From nothing to all, in whole microseconds, rounded up; of a window, its length.
[[nodiscard]] Duration time_to_fill(const Limit& limit) noexcept;

}  // namespace weir::engine
