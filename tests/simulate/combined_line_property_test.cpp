// Lines that a server writes to a combined log parse to the original values.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <ctime>
#include <string>

#include "simulate/combined_line.h"
#include "text/date.h"

namespace weir::simulate {
namespace {

using std::chrono::seconds;

Instant any_second() {
  const auto year = [](int number) { return std::chrono::sys_days{std::chrono::year{number} / 1 / 1}; };
  const auto first = std::chrono::sys_seconds{year(1000)}.time_since_epoch().count();
  const auto last = std::chrono::sys_seconds{year(9999)}.time_since_epoch().count();
  return Instant{seconds{*rc::gen::inRange<std::int64_t>(first, last)}};
}

// The C library's calendar is the reference implementation.
std::string written(Instant instant, const char* form) {
  const std::time_t time = std::chrono::floor<seconds>(instant).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

// Escapes like nginx.
std::string escaped(const std::string& text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte > 126 || c == '"' || c == '\\') {
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    } else {
      result += c;
    }
  }
  return result;
}

RC_GTEST_PROP(CombinedLineProperty, EverySecondRoundTripsInEveryForm, ()) {
  const Instant instant = any_second();
  RC_ASSERT(text::parse_clf_time(written(instant, "%d/%b/%Y:%H:%M:%S +0000")) == instant);
  RC_ASSERT(text::parse_rfc3339(written(instant, "%Y-%m-%dT%H:%M:%SZ")) == (text::Stamp{instant, Grain::second}));
}

RC_GTEST_PROP(CombinedLineProperty, UserAndTargetOfAnyBytesRoundTrip,
              (const std::string& name, const std::string& path)) {
  const Instant instant = any_second();
  const std::string user = "u" + name;
  const std::string target = "/" + path;
  const std::string line = "2001:db8::1 - " + escaped(user) + written(instant, " [%d/%b/%Y:%H:%M:%S +0000] ") +
                           "\"GET " + escaped(target) + " HTTP/1.1\" 200 1 \"-\" \"-\"";
  CombinedLines lines;
  const auto entry = lines.parse(line);
  RC_ASSERT(entry.has_value());
  RC_ASSERT(entry->at == instant);
  RC_ASSERT(entry->user == user);
  RC_ASSERT(entry->target == target);
}

}  // namespace
}  // namespace weir::simulate
