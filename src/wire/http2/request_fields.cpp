#include "wire/http2/request_fields.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/ascii.h"

namespace weir::wire::http2 {
namespace {

// Connection-specific fields, which HTTP/2 forbids.
constexpr std::array<std::string_view, 5> forbidden{"connection", "keep-alive", "proxy-connection", "transfer-encoding",
                                                    "upgrade"};

bool passes(int (*check)(const std::uint8_t*, std::size_t), std::string_view text) noexcept {
  return check(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()) != 0;
}

bool is_scheme(std::string_view text) noexcept {
  return !text.empty() && base::is_letter(text.front()) && std::ranges::all_of(text, [](char c) {
    return base::is_letter_or_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

// The fields that determine the kind of a request, and those that are stored.
struct KnownField {
  std::string_view name;
  std::uint16_t mark = 0;
  std::optional<Field> field = {};
};

constexpr std::array known_fields{
    KnownField{":method", FieldFinding::method, Field::method},
    KnownField{":scheme", FieldFinding::scheme},
    KnownField{":authority", FieldFinding::authority},
    KnownField{":path", FieldFinding::path, Field::path},
    KnownField{"host", FieldFinding::host},
    KnownField{"content-length", FieldFinding::content_length},
    KnownField{"content-type", 0, Field::content_type},
    KnownField{"grpc-timeout", 0, Field::grpc_timeout},
    KnownField{"grpc-encoding", 0, Field::grpc_encoding},
    KnownField{"x-weir-token", 0, Field::weir_token},
    KnownField{"authorization", 0, Field::authorization},
};

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
  if (mark == FieldFinding::scheme && (base::equals_name(value, "http") || base::equals_name(value, "https"))) {
    return FieldFinding::http_scheme;
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
  const auto* const known = std::ranges::find(known_fields, name, &KnownField::name);
  const bool is_known = known != known_fields.end();
  const std::uint16_t mark = is_known ? known->mark : std::uint16_t{0};
  if (pseudo && mark == 0) return malformed;
  if (mark != 0 && value.empty()) return malformed;
  if (std::ranges::find(forbidden, name) != forbidden.end()) return malformed;
  if (name == "te" && !base::equals_name(value, "trailers")) return malformed;
  if (!is_readable(mark, value)) {
    return mark != 0 ? malformed : FieldFinding{.malformed_value = true, .marks = FieldFinding::regular};
  }

  FieldFinding found;
  found.marks = static_cast<std::uint16_t>(mark | more_marks(mark, value));
  if (!pseudo) found.marks |= FieldFinding::regular;
  if (mark == FieldFinding::content_length && !read_length(value, found.length)) return malformed;
  if (is_known) found.field = known->field;
  return found;
}

}  // namespace weir::wire::http2
