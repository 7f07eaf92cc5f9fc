// Problem details for HTTP (RFC 9457), the only writer of them. A denial has one of the types that the IETF httpapi
// draft -10 registers, or no type of its own where waiting never helps; an error has only a status and a sentence.
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
  forbidden,                   // 403: whatever is left, and whenever it is sent again. Has no numbers
};

[[nodiscard]] unsigned status_of(ProblemType type) noexcept;

struct Problem {
  ProblemType type = ProblemType::quota_exceeded;

  // The limits that deny, the one that the numbers are of first. Names from a policy: nothing of the client's.
  std::span<const std::string_view> violated_policies{};
  std::uint64_t limit = 0;
  std::optional<Duration> retry_after{};  // empty: the request can never fit, `null` in the body
  Instant reset_at{};
  std::string_view detail{};   // the sentence for people; empty: one from the numbers
  std::string_view missing{};  // the identity that the request lacks, as a policy writes it; empty: none
};

// Appends the body, with a sentence for people in `detail`. Seconds are rounded up; `reset_at` is written as
// 2025-11-15T06:44:40Z.
void append_problem(std::string& out, const Problem& problem);

// The body of an error with this status, and a line feed behind it.
[[nodiscard]] std::string problem_text(unsigned status, std::string_view detail);

}  // namespace weir::answer
