// Written fields parse to the original values.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "text/date.h"
#include "wire/fields/delta_seconds.h"
#include "wire/fields/rate_limit.h"
#include "wire/fields/structured_list.h"

namespace weir::wire {
namespace {

using std::chrono::seconds;

// The C library's calendar is the oracle.
std::string written(Instant instant, const char* form) {
  const std::time_t time = std::chrono::floor<seconds>(instant).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

Instant any_second(Instant from, Instant to) {
  return Instant{seconds{*rc::gen::inRange<std::int64_t>(std::chrono::floor<seconds>(from).time_since_epoch().count(),
                                                         std::chrono::floor<seconds>(to).time_since_epoch().count())}};
}

Instant year(int number) {
  return std::chrono::sys_days{std::chrono::year{number} / 1 / 1};
}

RC_GTEST_PROP(FieldsProperty, EverySecondOfFourDigitYearsRoundTrips, ()) {
  const Instant instant = any_second(year(1000), year(10000));
  const Instant now = any_second(year(1000), year(10000));
  RC_ASSERT(text::parse_http_date(written(instant, "%a, %d %b %Y %H:%M:%S GMT"), now) == instant);
  RC_ASSERT(text::parse_http_date(written(instant, "%a %b %e %H:%M:%S %Y"), now) == instant);
}

RC_GTEST_PROP(FieldsProperty, TwoDigitYearRoundTripsWithinFiftyYearsOfNow, ()) {
  const Instant now = any_second(year(1900), year(2200));
  const Instant instant = any_second(now - std::chrono::years{49}, now + std::chrono::years{50});
  RC_ASSERT(text::parse_http_date(written(instant, "%A, %d-%b-%y %H:%M:%S GMT"), now) == instant);
}

RC_GTEST_PROP(FieldsProperty, RetryAfterIsTheTimeUntilItsDate, ()) {
  const Instant now = any_second(year(1990), year(2040)) + Duration{*rc::gen::inRange(0, 1'000'000)};
  const Instant date = any_second(year(1990), year(2040));
  RC_ASSERT(parse_retry_after(written(date, "%a, %d %b %Y %H:%M:%S GMT"), now) ==
            std::max(date - now, Duration::zero()));
}

RC_GTEST_PROP(FieldsProperty, RetryAfterInSecondsIsExactUpToTheLongest, (std::uint64_t number)) {
  const Duration expected = number < max_delta_seconds ? Duration{seconds{number}} : max_wait;
  RC_ASSERT(parse_retry_after(std::to_string(number), Instant{}) == expected);
}

std::string escaped(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  return name;
}

std::string any_space(const std::string& alphabet) {
  return *rc::gen::resize(3, rc::gen::container<std::string>(rc::gen::elementOf(alphabet)));
}

RC_GTEST_PROP(FieldsProperty, EveryListOfLimitsRoundTripsWithAnyWhitespaceAndUnknownParameters, ()) {
  const auto count = rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000);
  const auto name = rc::gen::map(rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7f')), escaped);
  const auto names = *rc::gen::resize(20, rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(name)));
  std::string field = any_space(" ");
  std::vector<RateLimit> expected;
  for (const std::string& each : names) {
    const std::int64_t remaining = *count;
    const std::int64_t more_after = *count;
    if (!expected.empty()) field += any_space(" \t") + "," + any_space(" \t");
    field += '"' + each + "\";" + any_space(" ") + "r=" + std::to_string(remaining);
    field += *rc::gen::elementOf(std::vector<std::string>{"", ";x", ";x=tok", ";x=:YQ:", ";x=%\"%c3%a9\"", ";x=@1"});
    field += ";" + any_space(" ") + "t=" + std::to_string(more_after);
    expected.push_back({.name = each,
                        .remaining = static_cast<std::uint64_t>(remaining),
                        .more_after = seconds{std::min(more_after, std::int64_t{1} << 31)}});
  }
  field += any_space(" \t");
  RC_PRE(field.size() <= ListReader::max_length && names.size() <= ListReader::max_members);
  RC_ASSERT(parse_rate_limit(field) == expected);
}

}  // namespace
}  // namespace weir::wire
