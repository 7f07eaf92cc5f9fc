// How a gRPC call ends: a code, and a sentence for people in `grpc-message`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire::grpc {

enum class Status : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
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
