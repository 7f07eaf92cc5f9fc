#include "wire/http1/request_head.h"

#include <algorithm>
#include <limits>

namespace weir::wire::http1 {
namespace {

constexpr std::size_t longest_method = 256;
constexpr std::string_view version_prefix = "HTTP/1.";
constexpr std::size_t version_length = version_prefix.size() + 1;
// All of the first line but the target: two spaces, the line's end, and an empty line before it.
constexpr std::size_t request_line_frame = longest_method + 2 + version_length + 2 + 2;

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool is_version(std::string_view text) noexcept {
  return text.size() == version_length && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
         is_digit(text[7]);
}

}  // namespace

Step RequestHead::read(std::string_view bytes, const Limits& limits, std::span<Header> room) noexcept {
  const bool resumed = lines_.at() > 0;
  const std::size_t first_line = std::min(limits.head_bytes, limits.target_bytes + request_line_frame);
  for (;;) {
    const bool is_first = !has(request_line);
    switch (lines_.next(bytes, is_first ? first_line : limits.head_bytes)) {
      case Lines::Found::need_more:
        return Step::need_more;
      case Lines::Found::too_long:
        fault_ = is_first ? Fault::target_too_long : Fault::head_too_large;
        return Step::refused;
      case Lines::Found::malformed:
        fault_ = Fault::malformed_line;
        return Step::refused;
      case Lines::Found::line:
        break;
    }
    if (!lines_.line().empty() || is_first) {
      if (!read_line(limits, room)) return Step::refused;
      continue;
    }
    if (!is_consistent(limits)) return Step::refused;
    if (!resumed) return Step::complete;
    // Views into the buffer of an earlier call are void. All is here now, so it is read once more, in one go.
    *this = RequestHead{};
    return read(bytes, limits, room);
  }
}

bool RequestHead::expects_continue() const noexcept {
  return has(wants_continue) && version_ == Version::http_1_1;
}

Request RequestHead::request(std::span<const Header> room) const noexcept {
  const bool persists = version_ == Version::http_1_1 || has(keep_alive);
  return {.method = method_,
          .target = target_,
          .version = version_,
          .keep_alive = persists && !has(close),
          .host = host_,
          .headers = room.first(headers_)};
}

bool RequestHead::refuse(Fault fault) noexcept {
  fault_ = fault;
  return false;
}

bool RequestHead::read_line(const Limits& limits, std::span<Header> room) noexcept {
  const std::string_view line = lines_.line();
  if (!has(request_line)) {
    // Some old clients end a body with a CRLF that is not counted in its length (RFC 9112, 2.2).
    if (line.empty() && lines_.at() == 2) return true;
    return read_request_line(line, limits.target_bytes);
  }
  if (headers_ == std::min(limits.headers, room.size())) return refuse(Fault::too_many_headers);
  Header& header = room[headers_];
  if (!read_header(line, header)) return false;
  ++headers_;
  return heed(header);
}

bool RequestHead::read_request_line(std::string_view line, std::size_t longest_target) noexcept {
  const std::size_t method = token_bytes.run(line);
  if (method == 0 || method == line.size() || line[method] != ' ') return refuse(Fault::malformed_request_line);
  if (method > longest_method) return refuse(Fault::method_too_long);
  const std::string_view rest = line.substr(method + 1);
  if (rest.size() < version_length + 2) return refuse(Fault::malformed_request_line);
  const std::string_view version = rest.substr(rest.size() - version_length);
  const std::string_view target = rest.substr(0, rest.size() - version_length - 1);
  if (rest[target.size()] != ' ' || !is_version(version)) return refuse(Fault::malformed_request_line);
  if (target.find(' ') != std::string_view::npos || target.find('\t') != std::string_view::npos) {
    return refuse(Fault::malformed_request_line);
  }
  if (target.size() > longest_target) return refuse(Fault::target_too_long);
  const char minor = version.back();
  if (!version.starts_with(version_prefix) || minor > '1') return refuse(Fault::unsupported_version);
  version_ = minor == '0' ? Version::http_1_0 : Version::http_1_1;
  method_ = line.substr(0, method);
  target_ = target;
  set(request_line);
  return true;
}

bool RequestHead::read_header(std::string_view line, Header& header) noexcept {
  const std::size_t name = token_bytes.run(line);
  if (name == 0 || name == line.size() || line[name] != ':') return refuse(Fault::malformed_header);
  header = {.name = line.substr(0, name), .value = without_outer_whitespace(line.substr(name + 1))};
  return true;
}

// The few headers that the framing hangs on. Most names are told apart by their length.
bool RequestHead::heed(const Header& header) noexcept {
  switch (header.name.size()) {
    case 4:
      return !equals_ignoring_case(header.name, "host") || heed_host(header.value);
    case 6:
      if (equals_ignoring_case(header.name, "expect") && equals_ignoring_case(header.value, "100-continue")) {
        set(wants_continue);
      }
      return true;
    case 10:
      if (equals_ignoring_case(header.name, "connection")) heed_connection(header.value);
      return true;
    case 14:
      return !equals_ignoring_case(header.name, "content-length") || heed_length(header.value);
    case 17:
      return !equals_ignoring_case(header.name, "transfer-encoding") || heed_encoding(header.value);
    default:
      return true;
  }
}

bool RequestHead::heed_host(std::string_view value) noexcept {
  if (has(host)) return refuse(Fault::repeated_host);
  if (host_bytes.run(value) != value.size()) return refuse(Fault::malformed_host);
  host_ = value;
  set(host);
  return true;
}

bool RequestHead::heed_length(std::string_view value) noexcept {
  if (has(length)) return refuse(Fault::repeated_length);
  if (has(chunked)) return refuse(Fault::length_and_encoding);
  if (value.empty() || !std::ranges::all_of(value, is_digit)) return refuse(Fault::malformed_length);
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  for (const char c : value) {
    const auto digit = static_cast<std::size_t>(c - '0');
    content_length_ = content_length_ > (largest - digit) / 10 ? largest : content_length_ * 10 + digit;
  }
  set(length);
  return true;
}

bool RequestHead::heed_encoding(std::string_view value) noexcept {
  if (has(chunked)) return refuse(Fault::repeated_encoding);
  if (has(length)) return refuse(Fault::length_and_encoding);
  if (version_ == Version::http_1_0) return refuse(Fault::encoding_in_http_1_0);
  if (!equals_ignoring_case(value, "chunked")) return refuse(Fault::unsupported_encoding);
  set(chunked);
  return true;
}

void RequestHead::heed_connection(std::string_view value) noexcept {
  for (;;) {
    const std::size_t comma = value.find(',');
    const std::string_view option = without_outer_whitespace(value.substr(0, comma));
    if (equals_ignoring_case(option, "close")) set(close);
    if (equals_ignoring_case(option, "keep-alive")) set(keep_alive);
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

bool RequestHead::is_consistent(const Limits& limits) noexcept {
  if (version_ == Version::http_1_1 && !has(host)) return refuse(Fault::missing_host);
  if (content_length_ > limits.body_bytes) return refuse(Fault::body_too_large);
  return true;
}

}  // namespace weir::wire::http1
