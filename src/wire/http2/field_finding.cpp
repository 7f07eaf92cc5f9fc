#include "wire/http2/field_finding.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace weir::wire::http2 {
namespace {

// Of the connection, and not of a message: HTTP/2 has none of these.
constexpr std::array<std::string_view, 5> forbidden{"connection", "keep-alive", "proxy-connection", "transfer-encoding",
                                                    "upgrade"};

bool passes(int (*check)(const std::uint8_t*, std::size_t), std::string_view text) noexcept {
  return check(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()) != 0;
}

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_letter(char c) noexcept {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

bool equal_in_any_case(std::string_view text, std::string_view in_lower_case) noexcept {
  return std::ranges::equal(text, in_lower_case, {}, lower);
}

bool is_scheme(std::string_view text) noexcept {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

std::uint16_t mark_of(std::string_view name) noexcept {
  if (name == ":method") return FieldFinding::method;
  if (name == ":scheme") return FieldFinding::scheme;
  if (name == ":authority") return FieldFinding::authority;
  if (name == ":path") return FieldFinding::path;
  if (name == "host") return FieldFinding::host;
  if (name == "content-length") return FieldFinding::content_length;
  return 0;
}

bool is_readable(std::uint16_t mark, std::string_view value) noexcept {
  switch (mark) {
    case FieldFinding::method:
      return passes(nghttp2_check_method, value);
    case FieldFinding::scheme:
      return is_scheme(value);
    case FieldFinding::authority:
    case FieldFinding::host:
      return passes(nghttp2_check_authority, value);
    case FieldFinding::path:
      return passes(nghttp2_check_path, value);
    default:
      return passes(nghttp2_check_header_value_rfc9113, value);
  }
}

std::uint16_t more_marks(std::uint16_t mark, std::string_view value) noexcept {
  if (mark == FieldFinding::method && value == "CONNECT") return FieldFinding::connect;
  if (mark == FieldFinding::method && value == "OPTIONS") return FieldFinding::options;
  if (mark == FieldFinding::path && value.starts_with('/')) return FieldFinding::rooted;
  if (mark == FieldFinding::path && value == "*") return FieldFinding::asterisk;
  if (mark == FieldFinding::scheme && (equal_in_any_case(value, "http") || equal_in_any_case(value, "https"))) {
    return FieldFinding::of_the_web;
  }
  return 0;
}

bool read_length(std::string_view text, std::uint64_t& length) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, length);
  return error == std::errc{} && stopped == end && length <= INT64_MAX;
}

}  // namespace

FieldFinding examine(std::string_view name, std::string_view value) noexcept {
  constexpr FieldFinding malformed{.malformed = true};
  if (!passes(nghttp2_check_header_name, name)) return malformed;
  const bool pseudo = name.starts_with(':');
  const std::uint16_t mark = mark_of(name);
  if (pseudo && mark == 0) return malformed;
  if (mark != 0 && value.empty()) return malformed;
  if (std::ranges::find(forbidden, name) != forbidden.end()) return malformed;
  if (name == "te" && !equal_in_any_case(value, "trailers")) return malformed;
  if (!is_readable(mark, value)) {
    return mark != 0 ? malformed : FieldFinding{.malformed_value = true, .marks = FieldFinding::regular};
  }

  FieldFinding found;
  found.marks = static_cast<std::uint16_t>(mark | more_marks(mark, value));
  if (!pseudo) found.marks |= FieldFinding::regular;
  if (mark == FieldFinding::content_length && !read_length(value, found.length)) return malformed;
  found.field = field_named(name);
  return found;
}

}  // namespace weir::wire::http2
