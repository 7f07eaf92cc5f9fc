// An instant as people write it, in UTC. Years have four digits: what lies beyond is held to their first or last
// second.
#pragma once

#include <algorithm>
#include <chrono>

namespace weir::wire {

struct UtcTime {
  unsigned year = 0;
  unsigned month = 1;
  unsigned day = 1;
  unsigned weekday = 1;  // Monday is 1
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
};

constexpr UtcTime utc_time(std::chrono::sys_seconds time) noexcept {
  using namespace std::chrono;
  constexpr sys_seconds first = sys_days{std::chrono::year{0} / 1 / 1};
  constexpr sys_seconds last = sys_days{std::chrono::year{10000} / 1 / 1} - seconds{1};
  const sys_seconds held = std::clamp(time, first, last);
  const sys_days midnight = floor<days>(held);
  const year_month_day date{midnight};
  const hh_mm_ss clock{held - midnight};
  return {.year = static_cast<unsigned>(static_cast<int>(date.year())),
          .month = static_cast<unsigned>(date.month()),
          .day = static_cast<unsigned>(date.day()),
          .weekday = std::chrono::weekday{midnight}.iso_encoding(),
          .hour = static_cast<unsigned>(clock.hours().count()),
          .minute = static_cast<unsigned>(clock.minutes().count()),
          .second = static_cast<unsigned>(clock.seconds().count())};
}

// `number` in decimal, `width` places from `at` on, zeros in front. Where the next character goes.
constexpr char* write_padded(char* at, unsigned number, unsigned width) noexcept {
  for (unsigned place = width; place > 0; --place) {
    at[place - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  return at + width;
}

}  // namespace weir::wire
