#include "simulate/request_line.h"

#include <algorithm>
#include <cstddef>

namespace weir::simulate {
namespace {

constexpr std::size_t longest_method = 32;

constexpr bool is_method_char(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}

bool is_method(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_method && std::ranges::all_of(text, is_method_char);
}

std::string_view without_protocol(std::string_view rest) noexcept {
  constexpr std::string_view mark = " HTTP/";
  constexpr std::size_t usual_length = std::string_view(" HTTP/1.1").size();
  if (rest.size() > usual_length && rest.substr(rest.size() - usual_length).starts_with(mark)) {
    return rest.substr(0, rest.size() - usual_length);
  }
  const std::size_t space = rest.rfind(' ');
  if (space == std::string_view::npos || !rest.substr(space).starts_with(mark)) return rest;
  return rest.substr(0, space);
}

constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Appends what the escape at the front of `text` means, and gives its length; 0 if it is none.
std::size_t take_escape(std::string_view text, std::string& result) {
  if (text.size() < 2) return 0;
  if (text[1] == 'x') {
    const int high = text.size() < 4 ? -1 : hex_value(text[2]);
    const int low = text.size() < 4 ? -1 : hex_value(text[3]);
    if (high < 0 || low < 0) return 0;
    result += static_cast<char>(high * 16 + low);
    return 4;
  }
  constexpr std::string_view letters = "\"\\bnrtvf";
  constexpr std::string_view meant = "\"\\\b\n\r\t\v\f";
  const std::size_t found = letters.find(text[1]);
  if (found == std::string_view::npos) return 0;
  result += meant[found];
  return 2;
}

}  // namespace

tl::expected<RequestLine, Fault> split_request(std::string_view request) noexcept {
  if (request.empty() || request == "-") return tl::unexpected(Fault::no_request);
  const std::size_t space = request.find(' ');
  if (space == std::string_view::npos) return tl::unexpected(Fault::bad_request);
  const RequestLine line{request.substr(0, space), without_protocol(request.substr(space + 1))};
  if (!is_method(line.method) || line.target.empty() || line.target.front() == ' ') {
    return tl::unexpected(Fault::bad_request);
  }
  return line;
}

std::string_view unescaped(std::string_view text, std::string& scratch) {
  std::size_t next = text.find('\\');
  if (next == std::string_view::npos) return text;
  scratch.clear();
  while (next != std::string_view::npos) {
    scratch.append(text.substr(0, next));
    text.remove_prefix(next);
    const std::size_t length = take_escape(text, scratch);
    if (length == 0) scratch += '\\';
    text.remove_prefix(std::max<std::size_t>(length, 1));
    next = text.find('\\');
  }
  scratch.append(text);
  return scratch;
}

}  // namespace weir::simulate
