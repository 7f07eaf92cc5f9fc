// Dates and times of protocols, logs and people. Pure. A ClfClock belongs to one thread.
//
//   Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate: the HTTP-date to send (RFC 9110, 5.6.7)
//   Sunday, 06-Nov-94 08:49:37 GMT    RFC 850, an HTTP-date as well
//   Sun Nov  6 08:49:37 1994          asctime, an HTTP-date as well
//   2023-10-10T13:55:36.123+02:00     RFC 3339, and its variants: a space for the T, no colon in the zone
//   10/Oct/2023:13:55:36 +0200        common and combined logs (CLF)
//   1696946136, 1696946136.123        seconds since the epoch; larger numbers are milliseconds (from 10^11 on),
//                                     microseconds (10^14) or nanoseconds (10^17)
//
// Second 60 is a leap second: the first instant of the next minute. Digits beyond the microsecond are dropped. Other
// formats and invalid dates are rejected. Years have four digits: instants beyond them are written as the first or last
// second of that range.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/time.h"

namespace weir::text {

struct UtcTime {
  unsigned year = 0;
  unsigned month = 1;
  unsigned day = 1;
  unsigned weekday = 1;  // 1 is Monday
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
};

constexpr UtcTime utc_time(std::chrono::sys_seconds time) noexcept {
  using namespace std::chrono;
  constexpr sys_seconds first = sys_days{std::chrono::year{0} / 1 / 1};
  constexpr sys_seconds last = sys_days{std::chrono::year{10000} / 1 / 1} - seconds{1};
  const sys_seconds clamped = std::clamp(time, first, last);
  const sys_days midnight = floor<days>(clamped);
  const year_month_day date{midnight};
  const hh_mm_ss clock{clamped - midnight};
  return {.year = static_cast<unsigned>(static_cast<int>(date.year())),
          .month = static_cast<unsigned>(date.month()),
          .day = static_cast<unsigned>(date.day()),
          .weekday = std::chrono::weekday{midnight}.iso_encoding(),
          .hour = static_cast<unsigned>(clock.hours().count()),
          .minute = static_cast<unsigned>(clock.minutes().count()),
          .second = static_cast<unsigned>(clock.seconds().count())};
}

// Writes `number` in decimal with leading zeros. Returns the end.
constexpr char* write_padded(char* at, unsigned number, unsigned width) noexcept {
  for (unsigned place = width; place > 0; --place) {
    at[place - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  return at + width;
}

// `2026-01-05T12:00:00Z`, without fractions; and with microseconds, `2026-01-05T12:00:00.000000Z`.
using Rfc3339 = std::array<char, 20>;
using Rfc3339Micros = std::array<char, 27>;
[[nodiscard]] Rfc3339 rfc3339(Instant instant) noexcept;
[[nodiscard]] Rfc3339Micros rfc3339_micros(Instant instant) noexcept;

// The HTTP-date to send, without fractions.
using HttpDate = std::array<char, 29>;
[[nodiscard]] HttpDate http_date(Instant instant) noexcept;

// Accepts any of the three forms of HTTP-date. The name of the day is not verified. `now` determines the century of RFC
// 850's two-digit year: the latest one that is at most 50 years ahead.
[[nodiscard]] std::optional<Instant> parse_http_date(std::string_view text, Instant now) noexcept;

// The precision of a time. For lines within the same whole second, only the order is known.
enum class Grain : std::uint8_t { second, finer };

struct Stamp {
  Instant at{};
  Grain grain = Grain::second;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

inline constexpr std::size_t clf_time_length = 26;

[[nodiscard]] std::optional<Instant> parse_clf_time(std::string_view text) noexcept;
[[nodiscard]] std::optional<Stamp> parse_rfc3339(std::string_view text) noexcept;
[[nodiscard]] std::optional<Stamp> parse_epoch(std::string_view text) noexcept;

// Accepts each of the three formats above.
[[nodiscard]] std::optional<Stamp> parse_log_time(std::string_view text) noexcept;

// parse_clf_time for a log, whose lines mostly share their minute with the previous line.
class ClfClock {
 public:
  // `text` has clf_time_length characters.
  [[nodiscard]] std::optional<Instant> read(const char* text) noexcept;

 private:
  static constexpr std::size_t minute_length = 17;  // 10/Oct/2023:13:55
  static constexpr std::size_t zone_begin = 20;     // followed by " +0200"
  static constexpr std::size_t zone_length = clf_time_length - zone_begin;

  std::array<char, clf_time_length> known_{};  // the last valid text
  Instant minute_;                             // the start of its minute
};

}  // namespace weir::text
