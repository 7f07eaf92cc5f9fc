// The scalars of the policy language: text -> value, exactly, or an Error whose `what` says what to write instead
// (its `where` is the text, in quotes). Nothing is rounded, and nothing that could be read in two ways is read at all:
// no signs, exponents, underscores or leading zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/limit.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::text {

// Above this a whole number is not exact in a double, so that other readers of the file would see another one.
inline constexpr std::uint64_t largest_number = std::uint64_t{1} << 53;
inline constexpr std::size_t max_name_length = 128;

struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = largest_number;
};

[[nodiscard]] Result<std::uint64_t> parse_whole(std::string_view text, Bounds bounds = {});

// `N/s`, `N/min`, `N/h`, `N/day`, `N/second`, `N/minute`, `N/hour`, `N/30s`, `N/5min`, spaces around the slash: as
// written, not reduced. `N/week`, `N/month` and `N/year` are so many per 7, 30 and 365 days, which only a week really
// has: calendar_word() tells them apart.
[[nodiscard]] Result<Rate> parse_rate(std::string_view text);

// `week`, `month` or `year` of a rate that is per one of these; otherwise nothing.
[[nodiscard]] std::string_view calendar_word(std::string_view rate) noexcept;

// A decimal number with at most six places, as so many per second in lowest terms: 0.05 is one per 20 s.
[[nodiscard]] Result<Rate> parse_per_second(std::string_view text);

// A decimal number above 0, at most 1, with at most six places, in millionths.
[[nodiscard]] Result<std::uint32_t> parse_share(std::string_view text);

// `500ms`, `30s`, `10min`, `1h`, `1day`: more than nothing and at most ten years.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// Letters, digits, '.', '_' and '-'.
[[nodiscard]] Result<std::string> parse_name(std::string_view text);

// A field name of RFC 9110 (a token), in lower case.
[[nodiscard]] Result<std::string> parse_header_name(std::string_view text);

[[nodiscard]] Result<bool> parse_truth(std::string_view text);

}  // namespace weir::text
