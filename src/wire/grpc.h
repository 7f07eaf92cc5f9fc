// gRPC over HTTP/2: the messages in the body of a call, how long its caller waits, and how it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/time.h"

namespace weir::wire::grpc {

// In front of a message: a byte that says whether it is compressed, and four for its length.
inline constexpr std::size_t message_prefix = 5;

struct MessageStep {
  enum class Kind : std::uint8_t { whole, partial, compressed, too_long, malformed } kind;
  std::string_view message{};  // of a whole one
  std::size_t consumed = 0;
};

// The first message of a body. Of one that is compressed or too long nothing is consumed, and it need not all be here.
[[nodiscard]] MessageStep first_message(std::string_view body, std::size_t longest) noexcept;

// `write` appends the message.
template <class Write>
void append_message(std::string& out, const Write& write) {
  const std::size_t at = out.size();
  out.append(message_prefix, '\0');
  write();
  const std::size_t size = out.size() - at - message_prefix;
  for (std::size_t i = 0; i < 4; ++i) out[at + 1 + i] = static_cast<char>(size >> (8 * (3 - i)));
}

// The field `grpc-timeout`: at most eight digits and a unit of H, M, S, m, u, n; nanoseconds are rounded down. `100m`
// is a tenth of a second. Empty if it is something else.
[[nodiscard]] std::optional<Duration> parse_timeout(std::string_view text) noexcept;

// How a call ends: a code, and a sentence for people in `grpc-message`.
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

// As `grpc-status` has it.
[[nodiscard]] std::string_view text_of(Status status) noexcept;

// Percent-encoded: what is not printable ASCII, and `%` itself.
[[nodiscard]] std::string encode_message(std::string_view message);

}  // namespace weir::wire::grpc
