// The only writer of problem details for HTTP (RFC 9457). A denial has a type that the IETF httpapi draft -10
// registers, or about:blank if waiting never helps. An error has only a status and a detail.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weir/time.h"

namespace weir::answer {

inline constexpr std::string_view problem_content_type = "application/problem+json";

enum class ProblemType : std::uint8_t {
  quota_exceeded,              // 429
  temporary_reduced_capacity,  // 503
  abnormal_usage_detected,     // 429
  forbidden,                   // 403: retrying never helps. Has no numbers
};

[[nodiscard]] unsigned status_of(ProblemType type) noexcept;

struct Problem {
  ProblemType type = ProblemType::quota_exceeded;

  // The limits that deny; the numbers belong to the first. Names come from the policy, never from the client.
  std::span<const std::string_view> violated_policies{};
  std::uint64_t limit = 0;
  std::optional<Duration> retry_after{};  // empty: the request can never fit, `null` in the body
  Instant reset_at{};
  std::string_view detail{};   // empty: generated from the numbers
  std::string_view missing{};  // the identity that the request lacks, as the policy writes it; empty: none
};

// Seconds are rounded up; `reset_at` is written as 2025-11-15T06:44:40Z.
void append_problem(std::string& out, const Problem& problem);

// The body of an error, with a trailing line feed.
[[nodiscard]] std::string problem_text(unsigned status, std::string_view detail);

}  // namespace weir::answer
