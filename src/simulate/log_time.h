// Times as logs write them:
//   10/Oct/2023:13:55:36 +0200      common and combined logs
//   2023-10-10T13:55:36.123+02:00   RFC 3339, and its kin: a space for the T, no colon in the zone
//   1696946136, 1696946136.123      seconds since the epoch; a number too large for that is taken for
//                                   milliseconds (from 10^11 on), micro- (10^14) or nanoseconds (10^17)
// Second 60 is the first of the next minute. Years 0 to 9999. Digits beyond the microsecond are dropped.
// Pure, callable from anywhere; a ClfClock belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "simulate/log_entry.h"
#include "weir/time.h"

namespace weir::simulate {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

struct Stamp {
  Instant at{};
  Grain grain = Grain::second;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

inline constexpr std::size_t clf_time_length = 26;

[[nodiscard]] std::optional<Instant> parse_clf_time(std::string_view text) noexcept;
[[nodiscard]] std::optional<Stamp> parse_rfc3339(std::string_view text) noexcept;
[[nodiscard]] std::optional<Stamp> parse_epoch(std::string_view text) noexcept;

// Any of the three.
[[nodiscard]] std::optional<Stamp> parse_log_time(std::string_view text) noexcept;

// parse_clf_time for a log, whose lines mostly share their minute with the line before: then only the seconds
// are read.
class ClfClock {
 public:
  // `text` has clf_time_length characters.
  [[nodiscard]] std::optional<Instant> read(const char* text) noexcept;

 private:
  static constexpr std::size_t minute_length = 17;  // 10/Oct/2023:13:55
  static constexpr std::size_t zone_begin = 20;     // and from here " +0200"
  static constexpr std::size_t zone_length = clf_time_length - zone_begin;

  [[nodiscard]] bool same_minute(const char* text) const noexcept;

  std::array<char, clf_time_length> known_{};  // the text of the last line that could be read
  Instant minute_;                             // when that minute began
};

}  // namespace weir::simulate
