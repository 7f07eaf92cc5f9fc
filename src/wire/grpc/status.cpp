#include "wire/grpc/status.h"

#include <array>
#include <cstddef>

namespace weir::wire::grpc {

std::string_view text_of(Status status) noexcept {
  static constexpr std::array<std::string_view, 17> texts{"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                          "9", "10", "11", "12", "13", "14", "15", "16"};
  return texts[static_cast<std::size_t>(status)];
}

std::string encode_message(std::string_view message) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(message.size());
  for (const char c : message) {
    if (c >= ' ' && c <= '~' && c != '%') {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      encoded.push_back('%');
      encoded.push_back(hex[byte >> 4U]);
      encoded.push_back(hex[byte & 0xFU]);
    }
  }
  return encoded;
}

}  // namespace weir::wire::grpc
