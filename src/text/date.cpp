#include "text/date.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "base/ascii.h"
#include "base/number.h"

namespace weir::text {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;
using namespace std::chrono_literals;

constexpr std::array<std::string_view, 7> short_days{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> long_days{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::optional<Instant> within_the_years(std::optional<Instant> instant) noexcept {
  constexpr Instant first = sys_days{0y / 1 / 1};
  constexpr Instant last = sys_days{9999y / 12 / 31} + 24h - 1us;
  if (!instant || *instant < first || *instant > last) return {};
  return instant;
}

// Parses a date piece by piece. After a mismatch, no further piece matches.
class DateReader {
 public:
  explicit DateReader(std::string_view text) noexcept : rest_(text) {}

  unsigned year = 0;

  // Pieces are named as in strptime, and have their full width: %a and %A are the day's name, %b the month's, %d and %e
  // the day with a leading zero or space, %Y and %y the year with four or two digits, %m the month's number, %T the
  // time of day, %z the zone without a colon.
  DateReader& read(std::string_view pattern) noexcept {
    for (; !pattern.empty(); pattern.remove_prefix(1)) {
      if (pattern.front() == '%') {
        pattern.remove_prefix(1);
        read_piece(pattern.front());
      } else {
        one_of(pattern.substr(0, 1));
      }
    }
    return *this;
  }

  bool take_one_of(std::string_view accepted) noexcept {
    if (rest_.empty() || accepted.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void one_of(std::string_view accepted) noexcept { fits_ = take_one_of(accepted) && fits_; }

  // Reads all digits after a decimal point.
  Duration read_fraction() noexcept {
    std::int64_t worth = 100'000;
    fits_ = fits_ && !rest_.empty() && base::is_digit(rest_.front());
    for (; fits_ && !rest_.empty() && base::is_digit(rest_.front()); rest_.remove_prefix(1)) {
      fraction_ += Duration{(rest_.front() - '0') * worth};
      worth /= 10;
    }
    return fraction_;
  }

  // Reads +0200, with a colon if `colons` allows it.
  void read_zone(std::string_view colons) noexcept {
    const bool west = take_one_of("-");
    if (!west) one_of("+");
    const unsigned hour = number(2);
    take_one_of(colons);
    const unsigned minute = number(2);
    fits_ = fits_ && hour < 24 && minute < 60;
    zone_ = hours{hour} + minutes{minute};
    if (west) zone_ = -zone_;
  }

  [[nodiscard]] bool fits_to_the_end() const noexcept { return fits_ && rest_.empty(); }

  [[nodiscard]] std::optional<Instant> instant() const noexcept {
    const year_month_day date{std::chrono::year{static_cast<int>(year)}, std::chrono::month{month_},
                              std::chrono::day{day_}};
    if (!fits_to_the_end() || !date.ok() || hour_ > 23 || minute_ > 59 || second_ > 60) return {};
    return sys_days{date} + hours{hour_} + minutes{minute_} + seconds{second_} + fraction_ - zone_;
  }

 private:
  void read_piece(char piece) noexcept {
    if (piece == 'a') name(short_days);
    if (piece == 'A') name(long_days);
    if (piece == 'b') month_ = name(months);
    if (piece == 'm') month_ = number(2);
    if (piece == 'd') day_ = number(2);
    if (piece == 'e') day_ = number(take_one_of(" ") ? 1 : 2);
    if (piece == 'Y') year = number(4);
    if (piece == 'y') year = number(2);
    if (piece == 'z') read_zone("");
    if (piece != 'T') return;
    hour_ = number(2);
    one_of(":");
    minute_ = number(2);
    one_of(":");
    second_ = number(2);
  }

  // The index of the matching name, from 1.
  unsigned name(std::span<const std::string_view> names) noexcept {
    const auto found = std::ranges::find_if(names, [this](std::string_view each) { return rest_.starts_with(each); });
    fits_ = fits_ && found != names.end();
    if (fits_) rest_.remove_prefix(found->size());
    return static_cast<unsigned>(found - names.begin()) + 1;
  }

  unsigned number(std::size_t digits) noexcept {
    fits_ = fits_ && rest_.size() >= digits;
    unsigned value = 0;
    for (std::size_t i = 0; fits_ && i < digits; ++i) {
      fits_ = base::is_digit(rest_[i]);
      value = value * 10 + static_cast<unsigned>(rest_[i] - '0');
    }
    if (fits_) rest_.remove_prefix(digits);
    return value;
  }

  std::string_view rest_;
  bool fits_ = true;
  unsigned month_ = 0;
  unsigned day_ = 0;
  unsigned hour_ = 0;
  unsigned minute_ = 0;
  unsigned second_ = 0;
  Duration fraction_{};
  minutes zone_{};
};

// Returns the instant of a date whose year has no century. It is in the latest century that puts it at most 50 years
// ahead of now.
std::optional<Instant> settle_century(DateReader date, Instant now) noexcept {
  if (!date.fits_to_the_end()) return {};
  // Clamped so that the neighbouring centuries still have four-digit years, whatever the clock says.
  constexpr Instant first = sys_days{1000y / 1 / 1};
  constexpr Instant last = sys_days{9000y / 1 / 1};
  now = std::clamp(now, first, last);
  const auto this_year = utc_time(std::chrono::floor<seconds>(now)).year;
  const unsigned year_of_century = date.year;
  for (unsigned century = this_year / 100 + 1; century >= this_year / 100 - 1; --century) {
    date.year = century * 100 + year_of_century;
    const auto instant = date.instant();
    if (instant && *instant - now <= std::chrono::years{50}) return instant;
  }
  return {};
}

// Infers the unit of a time since 1970 from the size of its number.
Duration::rep units_per_second(std::uint64_t whole) noexcept {
  if (whole < 100'000'000'000) return 1;
  if (whole < 100'000'000'000'000) return 1'000;
  if (whole < 100'000'000'000'000'000) return 1'000'000;
  return 1'000'000'000;
}

std::optional<Stamp> stamp(std::optional<Instant> at, Grain grain) noexcept {
  at = within_the_years(at);
  if (!at) return {};
  return Stamp{*at, grain};
}

// Parses 1.696946136e9, as some encoders write doubles.
std::optional<Stamp> parse_scientific(std::string_view text) noexcept {
  const auto value = base::parse_number<double>(text);
  if (!value || !(std::abs(*value) < 1e19)) return {};
  const auto units = units_per_second(static_cast<std::uint64_t>(std::abs(*value)));
  const double micros = std::round(*value / static_cast<double>(units) * 1e6);
  return stamp(Instant{Duration{static_cast<Duration::rep>(micros)}}, Grain::finer);
}

// Writes `2026-01-05T12:00:00`. Returns the end.
char* write_date_and_time(char* at, const UtcTime& time) noexcept {
  const auto put = [&at](unsigned number, unsigned width, char after) {
    at = write_padded(at, number, width);
    if (after != '\0') *at++ = after;
  };
  put(time.year, 4, '-');
  put(time.month, 2, '-');
  put(time.day, 2, 'T');
  put(time.hour, 2, ':');
  put(time.minute, 2, ':');
  put(time.second, 2, '\0');
  return at;
}

}  // namespace

Rfc3339 rfc3339(Instant instant) noexcept {
  Rfc3339 text{};
  *write_date_and_time(text.data(), utc_time(std::chrono::floor<seconds>(instant))) = 'Z';
  return text;
}

Rfc3339Micros rfc3339_micros(Instant instant) noexcept {
  const auto second = std::chrono::floor<seconds>(instant);
  Rfc3339Micros text{};
  char* at = write_date_and_time(text.data(), utc_time(second));
  *at++ = '.';
  *write_padded(at, static_cast<unsigned>((instant - second).count()), 6) = 'Z';
  return text;
}

HttpDate http_date(Instant instant) noexcept {
  const UtcTime time = utc_time(std::chrono::floor<seconds>(instant));
  HttpDate text{};
  char* at = text.data();
  const auto write = [&at](std::string_view part) { at = std::copy(part.begin(), part.end(), at); };
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

std::optional<Instant> parse_http_date(std::string_view text, Instant now) noexcept {
  if (const auto instant = DateReader(text).read("%a, %d %b %Y %T GMT").instant()) return instant;
  if (const auto instant = settle_century(DateReader(text).read("%A, %d-%b-%y %T GMT"), now)) return instant;
  return DateReader(text).read("%a %b %e %T %Y").instant();
}

std::optional<Instant> parse_clf_time(std::string_view text) noexcept {
  return within_the_years(DateReader(text).read("%d/%b/%Y:%T %z").instant());
}

std::optional<Stamp> parse_rfc3339(std::string_view text) noexcept {
  DateReader date(text);
  date.read("%Y-%m-%d").one_of("Tt ");
  date.read("%T");
  const bool finer = date.take_one_of(".,");
  if (finer) date.read_fraction();
  date.take_one_of(" ");
  if (!date.take_one_of("Zz")) date.read_zone(":");
  return stamp(date.instant(), finer ? Grain::finer : Grain::second);
}

std::optional<Stamp> parse_epoch(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  std::string_view rest = text.substr(negative ? 1 : 0);
  if (rest.empty() || !base::is_digit(rest.front())) return {};
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), whole);
  if (error != std::errc{} || whole > 10'000'000'000'000'000'000U) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (rest.find_first_of("eE") != std::string_view::npos) return parse_scientific(text);

  const auto units = units_per_second(whole);
  const auto count = static_cast<std::uint64_t>(units);
  auto micros =
      static_cast<Duration::rep>(units <= 1'000'000 ? whole * (1'000'000 / count) : whole / (count / 1'000'000));
  const bool finer = units != 1 || !rest.empty();
  if (!rest.empty()) {
    DateReader decimals(rest);
    decimals.one_of(".");
    micros += decimals.read_fraction().count() / units;
    if (!decimals.fits_to_the_end()) return {};
  }
  return stamp(Instant{Duration{negative ? -micros : micros}}, finer ? Grain::finer : Grain::second);
}

std::optional<Stamp> parse_log_time(std::string_view text) noexcept {
  if (const auto read = parse_rfc3339(text)) return read;
  if (const auto read = parse_epoch(text)) return read;
  return stamp(parse_clf_time(text), Grain::second);
}

std::optional<Instant> ClfClock::read(const char* text) noexcept {
  const bool same_minute = std::memcmp(text, known_.data(), minute_length) == 0 &&
                           std::memcmp(text + zone_begin, known_.data() + zone_begin, zone_length) == 0;
  const auto tens = static_cast<unsigned>(text[18] - '0');
  const auto ones = static_cast<unsigned>(text[19] - '0');
  const unsigned second = tens * 10 + ones;
  if (same_minute && text[17] == ':' && tens <= 9 && ones <= 9 && second <= 60) {
    return within_the_years(minute_ + seconds{second});
  }
  const auto instant = parse_clf_time({text, clf_time_length});
  if (instant) {
    std::copy_n(text, clf_time_length, known_.begin());
    minute_ = *instant - seconds{second};
  }
  return instant;
}

}  // namespace weir::text
