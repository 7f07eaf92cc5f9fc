#include "wire/fields/http_date.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "wire/fields/text_cursor.h"
#include "wire/utc_time.h"

namespace weir::wire {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 7> short_days{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> long_days{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// What a date says, in its own words.
struct Parts {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;

  [[nodiscard]] std::optional<Instant> instant() const noexcept {
    const year_month_day date{std::chrono::year{static_cast<int>(year)}, std::chrono::month{month},
                              std::chrono::day{day}};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return {};
    return sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} + std::chrono::seconds{second};
  }
};

// Takes a date off a text piece by piece. After a piece that does not fit, nothing fits any more.
class DateReader {
 public:
  explicit DateReader(std::string_view text) noexcept : rest_(text) {}

  void literal(std::string_view expected) noexcept { fits_ = fits_ && take(rest_, expected); }

  // The place of the name that stands here, from 1.
  unsigned name(Names names) noexcept {
    const auto found = std::ranges::find_if(names, [this](std::string_view name) { return take(rest_, name); });
    fits_ = fits_ && found != names.end();
    return static_cast<unsigned>(found - names.begin()) + 1;
  }

  unsigned number(std::size_t digits) noexcept {
    fits_ = fits_ && rest_.size() >= digits;
    unsigned value = 0;
    for (std::size_t i = 0; fits_ && i < digits; ++i) {
      fits_ = is_digit(rest_[i]);
      value = value * 10 + static_cast<unsigned>(rest_[i] - '0');
    }
    if (fits_) rest_.remove_prefix(digits);
    return value;
  }

  // Two places wide, a space in front of a single digit.
  unsigned padded_day() noexcept { return take(rest_, ' ') ? number(1) : number(2); }

  void time_of_day(Parts& parts) noexcept {
    parts.hour = number(2);
    literal(":");
    parts.minute = number(2);
    literal(":");
    parts.second = number(2);
  }

  [[nodiscard]] bool fits_to_the_end() const noexcept { return fits_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

std::optional<Instant> parse_imf_fixdate(std::string_view text) noexcept {
  DateReader reader(text);
  Parts parts;
  reader.name(short_days);
  reader.literal(", ");
  parts.day = reader.number(2);
  reader.literal(" ");
  parts.month = reader.name(months);
  reader.literal(" ");
  parts.year = reader.number(4);
  reader.literal(" ");
  reader.time_of_day(parts);
  reader.literal(" GMT");
  return reader.fits_to_the_end() ? parts.instant() : std::nullopt;
}

std::optional<Instant> parse_asctime_date(std::string_view text) noexcept {
  DateReader reader(text);
  Parts parts;
  reader.name(short_days);
  reader.literal(" ");
  parts.month = reader.name(months);
  reader.literal(" ");
  parts.day = reader.padded_day();
  reader.literal(" ");
  reader.time_of_day(parts);
  reader.literal(" ");
  parts.year = reader.number(4);
  return reader.fits_to_the_end() ? parts.instant() : std::nullopt;
}

// The instant in the latest century that is not over 50 years ahead of now.
std::optional<Instant> settle_century(Parts parts, Instant now) noexcept {
  const auto this_year = static_cast<unsigned>(static_cast<int>(year_month_day{std::chrono::floor<days>(now)}.year()));
  const unsigned year_of_century = parts.year;
  for (unsigned century = this_year / 100 + 1; century >= this_year / 100 - 1; --century) {
    parts.year = century * 100 + year_of_century;
    const auto instant = parts.instant();
    if (instant && *instant - now <= std::chrono::years{50}) return instant;
  }
  return {};
}

std::optional<Instant> parse_rfc850_date(std::string_view text, Instant now) noexcept {
  DateReader reader(text);
  Parts parts;
  reader.name(long_days);
  reader.literal(", ");
  parts.day = reader.number(2);
  reader.literal("-");
  parts.month = reader.name(months);
  reader.literal("-");
  parts.year = reader.number(2);
  reader.literal(" ");
  reader.time_of_day(parts);
  reader.literal(" GMT");
  return reader.fits_to_the_end() ? settle_century(parts, now) : std::nullopt;
}

// Any clock at all gives a year of four digits here, far enough from both ends for its neighbour centuries.
Instant within_the_calendar(Instant now) noexcept {
  using namespace std::chrono_literals;
  constexpr Instant first = sys_days{1000y / 1 / 1};
  constexpr Instant last = sys_days{9000y / 1 / 1};
  return std::clamp(now, first, last);
}

}  // namespace

std::optional<Instant> parse_http_date(std::string_view text, Instant now) noexcept {
  if (const auto instant = parse_imf_fixdate(text)) return instant;
  if (const auto instant = parse_rfc850_date(text, within_the_calendar(now))) return instant;
  return parse_asctime_date(text);
}

HttpDate http_date(Instant instant) noexcept {
  const UtcTime time = utc_time(std::chrono::floor<std::chrono::seconds>(instant));
  HttpDate text{};
  char* at = text.data();
  const auto write = [&at](std::string_view part) { at = std::ranges::copy(part, at).out; };
  write(short_days[time.weekday - 1]);
  write(", ");
  at = write_padded(at, time.day, 2);
  write(" ");
  write(months[time.month - 1]);
  write(" ");
  at = write_padded(at, time.year, 4);
  write(" ");
  at = write_padded(at, time.hour, 2);
  write(":");
  at = write_padded(at, time.minute, 2);
  write(":");
  at = write_padded(at, time.second, 2);
  write(" GMT");
  return text;
}

}  // namespace weir::wire
