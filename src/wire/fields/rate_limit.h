// What a client reads of an answer. RateLimit and RateLimit-Policy (IETF httpapi draft -10): what is left of a server's
// limits, and what the limits are. Retry-After (RFC 9110, 10.2.3): whole seconds, or an HTTP-date.
//
// The first two are refused as a whole when they are not a well-formed, non-empty List, and when a member is no String,
// lacks its required parameter or has one of the wrong type or range. Parameters that are not known are ignored.
// Pure; callable from anywhere; texts are views into the field.
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
  // The policy's, as written: escapes are left in. A text can be written in one way only, so equal
  // names are equal texts.
  std::string_view name;
  std::uint64_t remaining = 0;
  std::optional<Duration> more_after = {};  // t: until more is granted; at most max_wait
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

// Neither is ever an empty list.
[[nodiscard]] std::optional<std::vector<RateLimit>> parse_rate_limit(std::string_view field);
[[nodiscard]] std::optional<std::vector<RateLimitPolicy>> parse_rate_limit_policy(std::string_view field);

// A longer field is refused: it is neither a date nor a number that anyone means.
inline constexpr std::size_t max_retry_after_length = 128;

// How long to wait from `now` on: never negative (a date that has passed is zero), at most max_wait.
// Empty when the field cannot be read.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view field, Instant now) noexcept;

}  // namespace weir::wire
