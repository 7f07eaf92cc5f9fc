#include "wire/grpc/message.h"

namespace weir::wire::grpc {

MessageStep first_message(std::string_view body, std::size_t longest) noexcept {
  using Kind = MessageStep::Kind;
  if (body.size() < message_prefix) return {Kind::partial};
  std::size_t size = 0;
  for (std::size_t i = 1; i < message_prefix; ++i) size = size << 8U | static_cast<std::uint8_t>(body[i]);
  if (body[0] == 1) return {Kind::compressed};
  if (body[0] != 0) return {Kind::malformed};
  if (size > longest) return {Kind::too_long};
  if (body.size() - message_prefix < size) return {Kind::partial};
  return {Kind::whole, body.substr(message_prefix, size), message_prefix + size};
}

}  // namespace weir::wire::grpc
