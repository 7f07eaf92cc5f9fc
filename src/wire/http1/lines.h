// Takes lines off a buffer that fills up: each ends in CRLF and holds no other control character but tabs.
//
// What is found is a function of the bytes alone, whatever pieces they came in, and no byte is looked at twice:
// the scan goes on where it stopped. Only places are kept, so the buffer may move between calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/http1/characters.h"

namespace weir::wire::http1 {

// How far reading got with the bytes that are there.
enum class Step : std::uint8_t { complete, need_more, refused };

inline std::string_view text(std::span<const char> bytes) noexcept {
  return {bytes.data(), bytes.size()};
}

class Lines {
 public:
  enum class Found : std::uint8_t { line, need_more, too_long, malformed };

  Lines() = default;
  explicit Lines(std::size_t at) noexcept : at_(at), scanned_(at) {}

  // Where the next line begins.
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

  // The next line, with its end, has to lie before `limit`, which stays the same until it is found.
  Found next(std::string_view bytes, std::size_t limit) noexcept {
    const std::size_t last = limit > 1 ? limit - 1 : 0;  // its CR has to lie before this
    const std::size_t stop = std::min(bytes.size(), last);
    const std::size_t end = scanned_ < stop ? find_control(bytes.data(), scanned_, stop) : stop;
    scanned_ = end;
    if (end == stop) return bytes.size() >= last ? Found::too_long : Found::need_more;
    if (bytes[end] != '\r') return Found::malformed;
    if (end + 1 == bytes.size()) return Found::need_more;
    if (bytes[end + 1] != '\n') return Found::malformed;
    line_ = bytes.substr(at_, end - at_);
    at_ = scanned_ = end + 2;
    return Found::line;
  }

  // The line that was found last, without its end. Void once the buffer moves.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }

 private:
  std::size_t at_ = 0;
  std::size_t scanned_ = 0;  // from at_ to here there is no control character
  std::string_view line_;
};

}  // namespace weir::wire::http1
