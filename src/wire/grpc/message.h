// Messages in the body of a gRPC call: a byte that says whether it is compressed, four for its length, and itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire::grpc {

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

}  // namespace weir::wire::grpc
