// The most requests that one limit can admit to one consumer in any span of time, whatever is sent before and in it.
//
// A span of length T is T consecutive microseconds that start anywhere. The result is exact: some sequence of requests
// reaches it if nothing is given back. It is only an upper bound for a calendar, whose windows differ in length, and
// for a bucket that refills more than burst - cost in a microsecond. docs/decisions/0033-policy-tests.md derives the
// formulas. Pure functions.
#pragma once

#include <optional>

#include "core/arithmetic.h"
#include "core/calendar.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::policy_test {

using core::Wide;

// A length of time, or one window of a calendar in the zone of each limit.
struct Span {
  Duration length{};
  std::optional<core::CalendarUnit> calendar;
};

// `span` must be above zero and `cost` at least 1. Returns nothing for a concurrency limit, which bounds no rate.
[[nodiscard]] std::optional<Wide> max_admitted(const Limit& limit, Cost cost, const Span& span) noexcept;

// The most requests that a concurrency limit admits at once; nothing for any other limit.
[[nodiscard]] std::optional<Wide> max_at_once(const Limit& limit, Cost cost) noexcept;

}  // namespace weir::policy_test
