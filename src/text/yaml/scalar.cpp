#include "text/yaml/scalar.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/ascii.h"
#include "text/yaml/problem.h"

namespace weir::text {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_decimal_places = 6;
constexpr std::uint64_t millionths = 1'000'000;

struct Unit {
  std::string_view name;
  Duration length;
};

constexpr std::array<Unit, 7> units{
    {{"ms", 1ms}, {"s", 1s}, {"sec", 1s}, {"min", 1min}, {"m", 1min}, {"h", 1h}, {"day", std::chrono::days{1}}}};

std::string_view leading_digits(std::string_view text) noexcept {
  const auto* end = std::ranges::find_if_not(text, base::is_digit);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// Saturates above max_number, so that the caller can tell that the number is too large.
std::uint64_t saturating(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (value > max_number) break;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

tl::unexpected<Error> wrong(std::string_view text, std::string what) {
  return failure(in_quotes(text), std::move(what));
}

struct Decimal {
  std::uint64_t units = 0;  // the number in units of 10^-places
  std::uint64_t scale = 1;  // 10^places
};

Result<Decimal> parse_decimal(std::string_view text, std::string_view example) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view places = text.substr(std::min(point + 1, text.size()));
  const bool has_point = point < text.size();
  if (text.starts_with('-')) return wrong(text, "must be above 0");
  if (!base::consists_of(whole, base::is_digit) || has_point != base::consists_of(places, base::is_digit) ||
      (whole.size() > 1 && whole.front() == '0')) {
    return wrong(text, fmt::format("not a decimal number: write it like {}", example));
  }
  if (places.size() > max_decimal_places) return wrong(text, "has more than six decimal places: at most six are exact");
  Decimal decimal{saturating(std::string(whole) + std::string(places)), 1};
  for (std::size_t i = 0; i < places.size(); ++i) decimal.scale *= 10;
  if (decimal.units > max_number) {
    return wrong(text, fmt::format("too large: at most {}", max_number / decimal.scale));
  }
  return decimal;
}

const Unit* find_unit(std::string_view name) noexcept {
  const auto* found = std::ranges::find_if(units, [&](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : found;
}

constexpr const char* no_rate = "a rate must be above 0; to deny every request, write 'rate: 0'";

// Removes the suffix of `100k` or `2M` and returns its factor.
std::uint64_t take_multiplier(std::string_view& count) noexcept {
  const std::uint64_t factor = count.ends_with('k') ? 1'000 : count.ends_with('M') ? 1'000'000 : 1;
  if (factor > 1) count.remove_suffix(1);
  return factor;
}

// Rates accept long unit names; durations do not.
std::string_view short_unit(std::string_view time) noexcept {
  if (time == "second") return "s";
  if (time == "minute") return "min";
  return time == "hour" ? "h" : time;
}

constexpr std::array<Unit, 3> calendar_units{
    {{"week", std::chrono::days{7}}, {"month", std::chrono::days{30}}, {"year", std::chrono::days{365}}}};

const Unit* find_calendar_unit(std::string_view name) noexcept {
  const auto* found = std::ranges::find_if(calendar_units, [&](const Unit& unit) { return unit.name == name; });
  return found == calendar_units.end() ? nullptr : found;
}

// The part after the slash.
std::string_view time_of(std::string_view rate) noexcept {
  const std::size_t slash = rate.find('/');
  return slash == std::string_view::npos ? std::string_view{} : base::trimmed(rate.substr(slash + 1), " ");
}

// Parses `30s`, or `s` if the number is optional. Returns empty if the text is invalid, and zero if the duration is too
// long.
std::optional<Duration> duration_in(std::string_view text, bool number_needed) noexcept {
  const std::string_view digits = leading_digits(text);
  const Unit* unit = find_unit(text.substr(digits.size()));
  if (unit == nullptr || digits.starts_with('0') || (number_needed && digits.empty())) return {};
  const std::uint64_t count = digits.empty() ? 1 : saturating(digits);
  if (count > static_cast<std::uint64_t>(Limit::max_duration / unit->length)) return Duration::zero();
  return unit->length * static_cast<std::int64_t>(count);
}

}  // namespace

Result<std::uint64_t> parse_whole(std::string_view text, Bounds bounds) {
  if (text.starts_with('-') && base::consists_of(text.substr(1), base::is_digit)) {
    return wrong(text, fmt::format("cannot be negative: at least {}", bounds.min));
  }
  if (!base::consists_of(text, base::is_digit)) return wrong(text, "not a whole number: write digits only, like 20");
  if (text.size() > 1 && text.front() == '0') return wrong(text, "leading zero: write the number without it");
  const std::uint64_t value = saturating(text);
  if (value < bounds.min) return wrong(text, fmt::format("too small: at least {}", bounds.min));
  if (value > bounds.max) return wrong(text, fmt::format("too large: at most {}", bounds.max));
  return value;
}

Result<Rate> parse_rate(std::string_view text) {
  constexpr const char* form = "not a rate: write COUNT/PERIOD, like 10/s, 100/min, 100k/day or 10/30s";
  const std::size_t slash = text.find('/');
  if (text.starts_with('-')) return wrong(text, "a rate must be above 0");
  if (slash == std::string_view::npos) return wrong(text, form);
  std::string_view count = base::trimmed(text.substr(0, slash), " ");
  if (count.find('.') != std::string_view::npos) {
    return wrong(text, "the count must be a whole number; for less than one, use a longer period, like 1/20s");
  }
  const std::uint64_t multiplier = take_multiplier(count);
  const auto number = parse_whole(count);
  if (!number) return wrong(text, base::consists_of(count, base::is_digit) ? number.error().what : form);
  if (*number == 0) return wrong(text, no_rate);
  if (*number > max_number / multiplier) return wrong(text, fmt::format("too large: at most {}", max_number));
  const std::string_view time = time_of(text);
  const std::string_view unit = time.substr(leading_digits(time).size());
  if (const Unit* found = find_calendar_unit(time)) return Rate{*number * multiplier, found->length};
  if (find_calendar_unit(unit) != nullptr) {
    return wrong(text, "a week, month or year takes no number: write days, like 700/14day");
  }
  const auto per = duration_in(short_unit(time), false);
  if (!per && base::consists_of(unit, base::is_letter) && find_unit(short_unit(unit)) == nullptr) {
    return wrong(text, fmt::format("unknown unit {}: write ms, s, min, h, day, week, month or year", in_quotes(unit)));
  }
  if (!per) return wrong(text, form);
  if (*per == Duration::zero()) return wrong(text, "period too long: at most 3650day (10 years)");
  return Rate{*number * multiplier, *per};
}

std::string_view calendar_word(std::string_view rate) noexcept {
  const Unit* unit = find_calendar_unit(time_of(rate));
  return unit == nullptr ? std::string_view{} : unit->name;
}

Result<Rate> parse_per_second(std::string_view text) {
  const auto decimal = parse_decimal(text, "2 or 0.05");
  if (!decimal) return tl::unexpected<Error>(decimal.error());
  if (decimal->units == 0) return wrong(text, no_rate);
  const std::uint64_t common = std::gcd(decimal->units, decimal->scale);
  return Rate{decimal->units / common, std::chrono::seconds{decimal->scale / common}};
}

Result<std::uint32_t> parse_share(std::string_view text) {
  const auto decimal = parse_decimal(text, "0.5");
  if (!decimal) return tl::unexpected<Error>(decimal.error());
  if (decimal->units == 0 || decimal->units > decimal->scale) {
    return wrong(text, "a share must be above 0 and at most 1, like 0.5");
  }
  return static_cast<std::uint32_t>(decimal->units * (millionths / decimal->scale));
}

Result<Duration> parse_duration(std::string_view text) {
  const auto duration = duration_in(text, true);
  if (!duration) return wrong(text, "not a duration: write it like 500ms, 30s, 10min, 1h or 1day");
  if (*duration == Duration::zero()) return wrong(text, "too long: at most 3650day (10 years)");
  return *duration;
}

Result<std::string> parse_name(std::string_view text) {
  const auto fits = [](char c) { return base::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; };
  if (!base::consists_of(text, fits)) return wrong(text, "a name can contain only letters, digits, '.', '_' and '-'");
  if (text.size() > max_name_length)
    return wrong(text, fmt::format("too long: at most {} characters", max_name_length));
  return std::string(text);
}

Result<std::string> parse_header_name(std::string_view text) {
  if (!base::is_token(text)) return wrong(text, "invalid header name: write it like X-User-Id");
  if (text.size() > max_name_length)
    return wrong(text, fmt::format("too long: at most {} characters", max_name_length));
  return base::lower(text);
}

Result<bool> parse_truth(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  return wrong(text, "write true or false");
}

}  // namespace weir::text
