#include "simulate/log_time.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace weir::simulate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;
using namespace std::chrono_literals;

constexpr Instant first_instant = sys_days{0y / 1 / 1};
constexpr Instant last_instant = sys_days{9999y / 12 / 31} + 24h - 1us;

std::optional<Instant> within_the_years(Instant instant) noexcept {
  if (instant < first_instant || instant > last_instant) return {};
  return instant;
}

// What a date says, in its own words.
struct Parts {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  Duration fraction{};
  minutes zone{};

  [[nodiscard]] std::optional<Instant> instant() const noexcept {
    const year_month_day date{std::chrono::year{static_cast<int>(year)}, std::chrono::month{month},
                              std::chrono::day{day}};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return {};
    return within_the_years(sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + fraction - zone);
  }
};

// Takes a time off a text piece by piece. After a piece that does not fit, nothing fits any more.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) noexcept : rest_(text) {}

  bool take_one_of(std::string_view accepted) noexcept {
    if (rest_.empty() || accepted.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void literal(std::string_view one_of) noexcept { fits_ = take_one_of(one_of) && fits_; }

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

  void time_of_day(Parts& parts) noexcept {
    parts.hour = number(2);
    literal(":");
    parts.minute = number(2);
    literal(":");
    parts.second = number(2);
  }

  // From 1; 0 where no month stands.
  unsigned month() noexcept {
    constexpr std::string_view names = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t found = rest_.size() < 3 ? std::string_view::npos : names.find(rest_.substr(0, 3));
    fits_ = fits_ && found != std::string_view::npos && found % 3 == 0;
    if (!fits_) return 0;
    rest_.remove_prefix(3);
    return static_cast<unsigned>(found / 3) + 1;
  }

  // The digits after a decimal point, as many as there are.
  Duration fraction() noexcept {
    std::int64_t micros = 0;
    std::int64_t worth = 100'000;
    fits_ = fits_ && !rest_.empty() && is_digit(rest_.front());
    for (; fits_ && !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) {
      micros += (rest_.front() - '0') * worth;
      worth /= 10;
    }
    return Duration{micros};
  }

  // +0200, and with a colon where `colons` says so.
  minutes zone(std::string_view colons) noexcept {
    const bool west = take_one_of("-");
    if (!west) literal("+");
    const unsigned hour = number(2);
    take_one_of(colons);
    const unsigned minute = number(2);
    fits_ = fits_ && hour < 24 && minute < 60;
    const minutes ahead = hours{hour} + minutes{minute};
    return west ? -ahead : ahead;
  }

  [[nodiscard]] bool fits_to_the_end() const noexcept { return fits_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

// The unit of a number of this size that counts from 1970 to now, or nearly.
Duration::rep units_per_second(std::uint64_t whole) noexcept {
  if (whole < 100'000'000'000) return 1;
  if (whole < 100'000'000'000'000) return 1'000;
  if (whole < 100'000'000'000'000'000) return 1'000'000;
  return 1'000'000'000;
}

// 1.696946136e9, as some encoders write their doubles.
std::optional<Stamp> parse_scientific(std::string_view text) noexcept {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(std::abs(value) < 1e19)) return {};
  const auto units = units_per_second(static_cast<std::uint64_t>(std::abs(value)));
  const double micros = std::round(value / static_cast<double>(units) * 1e6);
  const auto at = within_the_years(Instant{Duration{static_cast<Duration::rep>(micros)}});
  if (!at) return {};
  return Stamp{*at, Grain::finer};
}

}  // namespace

std::optional<Instant> parse_clf_time(std::string_view text) noexcept {
  TimeReader reader(text);
  Parts parts;
  parts.day = reader.number(2);
  reader.literal("/");
  parts.month = reader.month();
  reader.literal("/");
  parts.year = reader.number(4);
  reader.literal(":");
  reader.time_of_day(parts);
  reader.literal(" ");
  parts.zone = reader.zone("");
  return reader.fits_to_the_end() ? parts.instant() : std::nullopt;
}

std::optional<Stamp> parse_rfc3339(std::string_view text) noexcept {
  TimeReader reader(text);
  Parts parts;
  Grain grain = Grain::second;
  parts.year = reader.number(4);
  reader.literal("-");
  parts.month = reader.number(2);
  reader.literal("-");
  parts.day = reader.number(2);
  reader.literal("Tt ");
  reader.time_of_day(parts);
  if (reader.take_one_of(".,")) {
    parts.fraction = reader.fraction();
    grain = Grain::finer;
  }
  reader.take_one_of(" ");
  if (!reader.take_one_of("Zz")) parts.zone = reader.zone(":");
  const auto at = reader.fits_to_the_end() ? parts.instant() : std::nullopt;
  if (!at) return {};
  return Stamp{*at, grain};
}

std::optional<Stamp> parse_epoch(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  std::string_view rest = text.substr(negative ? 1 : 0);
  if (rest.empty() || !is_digit(rest.front())) return {};
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), whole);
  if (error != std::errc{} || whole > 10'000'000'000'000'000'000U) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (rest.find_first_of("eE") != std::string_view::npos) return parse_scientific(text);

  const auto units = units_per_second(whole);
  const auto count = static_cast<std::uint64_t>(units);
  auto micros =
      static_cast<Duration::rep>(units <= 1'000'000 ? whole * (1'000'000 / count) : whole / (count / 1'000'000));
  Grain grain = units == 1 ? Grain::second : Grain::finer;
  if (!rest.empty()) {
    TimeReader reader(rest);
    reader.literal(".");
    micros += reader.fraction().count() / units;
    if (!reader.fits_to_the_end()) return {};
    grain = Grain::finer;
  }
  const auto at = within_the_years(Instant{Duration{negative ? -micros : micros}});
  if (!at) return {};
  return Stamp{*at, grain};
}

std::optional<Stamp> parse_log_time(std::string_view text) noexcept {
  if (const auto stamp = parse_rfc3339(text)) return stamp;
  if (const auto stamp = parse_epoch(text)) return stamp;
  if (const auto at = parse_clf_time(text)) return Stamp{*at, Grain::second};
  return {};
}

bool ClfClock::same_minute(const char* text) const noexcept {
  return std::memcmp(text, known_.data(), minute_length) == 0 &&
         std::memcmp(text + zone_begin, known_.data() + zone_begin, zone_length) == 0;
}

std::optional<Instant> ClfClock::read(const char* text) noexcept {
  const auto tens = static_cast<unsigned>(text[18] - '0');
  const auto ones = static_cast<unsigned>(text[19] - '0');
  const unsigned second = tens * 10 + ones;
  if (same_minute(text) && text[17] == ':' && tens <= 9 && ones <= 9 && second <= 60) {
    return within_the_years(minute_ + seconds{second});
  }
  const auto instant = parse_clf_time({text, clf_time_length});
  if (instant) {
    std::copy_n(text, clf_time_length, known_.begin());
    minute_ = *instant - seconds{second};
  }
  return instant;
}

}  // namespace weir::simulate
