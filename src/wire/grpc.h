// gRPC over HTTP/2: the messages in the body of a call, its timeout, and its status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/time.h"

namespace weir::wire::grpc {

// Precedes a message: one byte for the compression flag, four for the length.
inline constexpr std::size_t message_prefix = 5;

struct MessageStep {
  enum class Kind : std::uint8_t { whole, partial, compressed, too_long, malformed } kind;
  std::string_view message{};  // set if whole
  std::size_t consumed = 0;
};

// Returns the first message of a body. Reports a compressed or overlong message before it is complete, unconsumed.
[[nodiscard]] MessageStep first_message(std::string_view body, std::size_t max_size) noexcept;

// `write` appends the message.
template <class Write>
void append_message(std::string& out, const Write& write) {
  const std::size_t at = out.size();
  out.append(message_prefix, '\0');
  write();
  const std::size_t size = out.size() - at - message_prefix;
  for (std::size_t i = 0; i < 4; ++i) out[at + 1 + i] = static_cast<char>(size >> (8 * (3 - i)));
}

// Parses `grpc-timeout`: at most eight digits and a unit (H, M, S, m, u, n), for example `100m` for 100 ms. Nanoseconds
// are rounded down. Empty if invalid.
[[nodiscard]] std::optional<Duration> parse_timeout(std::string_view text) noexcept;

enum class Status : std::uint8_t {
  ok,
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  resource_exhausted = 8,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  unauthenticated = 16,
};

// The value of `grpc-status`.
[[nodiscard]] std::string_view text_of(Status status) noexcept;

// Percent-encodes `%` and everything except printable ASCII.
[[nodiscard]] std::string encode_message(std::string_view message);

}  // namespace weir::wire::grpc
