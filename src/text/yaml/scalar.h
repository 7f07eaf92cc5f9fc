// The scalars of the policy language: exact conversions of text, or an Error whose `what` says what to write instead
// (its `where` is the quoted text). Nothing is rounded, and ambiguous notations are rejected: no signs, exponents,
// underscores or leading zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/limit.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::text {

// The largest whole number that is exact in a double: other readers of the file may use doubles.
inline constexpr std::uint64_t max_number = std::uint64_t{1} << 53;
inline constexpr std::size_t max_name_length = 128;

struct Bounds {
  std::uint64_t min = 0;
  std::uint64_t max = max_number;
};

[[nodiscard]] Result<std::uint64_t> parse_whole(std::string_view text, Bounds bounds = {});

// Parses `N/s`, `N/min`, `N/h`, `N/day`, `N/30s` or `N/5min`. Spaces around the slash are allowed. The result is not
// reduced to lowest terms. N may end in `k` (thousand) or `M` (million). `sec`, `second`, `m`, `minute` and `hour` are
// synonyms. `N/week`, `N/month` and `N/year` are N per 7, 30 and 365 days; calendar_word() recognises them.
[[nodiscard]] Result<Rate> parse_rate(std::string_view text);

// Returns `week`, `month` or `year` if the rate is per one of these; otherwise nothing.
[[nodiscard]] std::string_view calendar_word(std::string_view rate) noexcept;

// Parses a decimal number with at most six places as a rate per second, in lowest terms: 0.05 is one per 20 s.
[[nodiscard]] Result<Rate> parse_per_second(std::string_view text);

// Parses a decimal number above 0 and at most 1, with at most six places. Returns millionths.
[[nodiscard]] Result<std::uint32_t> parse_share(std::string_view text);

// Parses `500ms`, `30s`, `10min` or `10m`, `1h`, `1day`. The duration must be above zero and at most ten years.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// Parses a name of letters, digits, '.', '_' and '-'.
[[nodiscard]] Result<std::string> parse_name(std::string_view text);

// Parses a field name of RFC 9110 (a token). Returns it in lower case.
[[nodiscard]] Result<std::string> parse_header_name(std::string_view text);

[[nodiscard]] Result<bool> parse_truth(std::string_view text);

}  // namespace weir::text
