// An HTTP/1.x request, its limits and its faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "weir/header.h"

namespace weir::wire::http1 {

using weir::Header;

enum class Version : std::uint8_t { http_1_0, http_1_1 };

// Views into the parsed buffer and the caller's array of headers.
struct Request {
  std::string_view method{};  // as sent: methods are case-sensitive
  std::string_view target{};  // as sent, in any form, without whitespace and control characters
  Version version = Version::http_1_1;
  bool keep_alive = true;  // if false, anything that follows on the connection is not a request
  std::string_view host{};
  std::span<const Header> headers{};  // names as sent, never empty; values are trimmed
  std::string_view body{};            // the data of a chunked body
};

// The maximum sizes of a request. They are larger than those of proxies (Envoy: 60 KiB, 100 headers), which forward the
// headers of their clients.
struct Limits {
  std::size_t head_bytes = std::size_t{128} * 1024;  // up to and including the empty line
  std::size_t headers = 256;
  std::size_t target_bytes = std::size_t{64} * 1024;
  std::size_t body_bytes = std::size_t{1024} * 1024;

  // The largest buffer that a request needs: the framing of chunks is at most their data, one head and a line end.
  [[nodiscard]] constexpr std::size_t max_request_size() const noexcept { return 2 * (head_bytes + body_bytes + 1); }
};

// The reason why a request was rejected. Its end is unknown, so the connection must be closed after the response.
enum class Fault : std::uint8_t {
  malformed_line,  // a control character, a CR or an LF on its own
  malformed_request_line,
  method_too_long,
  target_too_long,
  unsupported_version,
  malformed_header,  // no name, no colon, whitespace before the colon, or a folded line
  head_too_large,
  too_many_headers,
  missing_host,
  repeated_host,
  malformed_host,
  repeated_length,  // even if both are equal
  malformed_length,
  length_and_encoding,
  repeated_encoding,
  unsupported_encoding,  // anything other than exactly `chunked`
  encoding_in_http_1_0,
  body_too_large,
  malformed_chunk,
  chunks_too_small,  // more framing than data
};

// The response status: 400, 413, 414 or 431. Never 5xx: a proxy would treat that as a failure of Weir and might admit
// the request.
[[nodiscard]] unsigned status_of(Fault fault) noexcept;

// The message for the response body.
[[nodiscard]] std::string_view text_of(Fault fault) noexcept;

}  // namespace weir::wire::http1
