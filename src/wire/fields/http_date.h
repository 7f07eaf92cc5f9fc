// HTTP-date (RFC 9110, 5.6.7) in all three forms:
//   Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate, the one to send
//   Sunday, 06-Nov-94 08:49:37 GMT    RFC 850
//   Sun Nov  6 08:49:37 1994          asctime
// Pure; callable from anywhere.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "weir/time.h"

namespace weir::wire {

// Empty when `text` is none of the three or no date of the calendar. The name of the day is not
// compared with the date. Second 60 is a leap second: the first instant of the next minute.
// `now` settles the century of RFC 850's two-digit year: the latest that is not over 50 years ahead.
[[nodiscard]] std::optional<Instant> parse_http_date(std::string_view text, Instant now) noexcept;

// `instant` in the form to send, its fraction of a second left off. Years beyond four digits are held to them.
using HttpDate = std::array<char, 29>;
[[nodiscard]] HttpDate http_date(Instant instant) noexcept;

}  // namespace weir::wire
