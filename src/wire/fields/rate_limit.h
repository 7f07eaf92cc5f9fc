// Parses the response fields RateLimit and RateLimit-Policy (IETF httpapi draft -10) and Retry-After (RFC
// 9110, 10.2.3).
//
// The first two are rejected as a whole if they are not a well-formed, non-empty List, or if a member is not a String,
// lacks a required parameter, or has a parameter of the wrong type or range. Unknown parameters are ignored. Texts are
// views into the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "weir/time.h"

namespace weir::wire {

// One member of RateLimit: `"default";r=50;t=30`.
struct RateLimit {
  // The policy's name with its escapes. Escaping is unambiguous, so equal names are equal texts.
  std::string_view name;
  std::uint64_t remaining = 0;
  std::optional<Duration> more_after = {};  // parameter t, at most max_wait
  std::string_view partition_key = {};      // in base64; empty when absent

  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

enum class QuotaUnit : std::uint8_t { requests, content_bytes, concurrent_requests, unknown };

// One member of RateLimit-Policy: `"default";q=100;w=60`.
struct RateLimitPolicy {
  std::string_view name;  // as in RateLimit
  std::uint64_t quota = 0;
  std::optional<Duration> window = {};  // at most max_wait
  QuotaUnit unit = QuotaUnit::requests;
  std::string_view partition_key = {};  // in base64; empty when absent

  friend bool operator==(const RateLimitPolicy&, const RateLimitPolicy&) = default;
};

// These never return an empty list.
[[nodiscard]] std::optional<std::vector<RateLimit>> parse_rate_limit(std::string_view field);
[[nodiscard]] std::optional<std::vector<RateLimitPolicy>> parse_rate_limit_policy(std::string_view field);

// A longer field is rejected: it is neither a date nor a plausible number.
inline constexpr std::size_t max_retry_after_length = 128;

// The time to wait from `now`, at most max_wait. A date in the past is zero. Empty if the field is invalid.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view field, Instant now) noexcept;

}  // namespace weir::wire
