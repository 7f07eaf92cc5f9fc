// An HTTP/1.x request as it was sent, how much of one is accepted, and what can be wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "weir/header.h"

namespace weir::wire::http1 {

using weir::Header;

enum class Version : std::uint8_t { http_1_0, http_1_1 };

// Views only: into the buffer that was parsed and the headers' room beside it.
struct Request {
  std::string_view method{};  // as sent: methods know letter case
  std::string_view target{};  // as sent: any form, bytes from 0x80 on included, no whitespace or control characters
  Version version = Version::http_1_1;
  bool keep_alive = true;  // false: whatever follows on the connection is no request
  std::string_view host{};
  std::span<const Header> headers{};  // names as sent, never empty; values without the whitespace around them
  std::string_view body{};            // of a chunked body, what its chunks hold
};

// What a stranger may send. Beyond it a request is refused. Larger than what proxies take of their clients (Envoy: 60
// KiB of headers, 100 of them), because they pass that on.
struct Limits {
  std::size_t head_bytes = std::size_t{128} * 1024;  // from the first byte to the empty line, both counted
  std::size_t headers = 256;
  std::size_t target_bytes = std::size_t{64} * 1024;
  std::size_t body_bytes = std::size_t{1024} * 1024;

  // No request needs a larger buffer: what frames chunks is at most their data, one head, and a line's end.
  [[nodiscard]] constexpr std::size_t largest_request() const noexcept { return 2 * (head_bytes + body_bytes + 1); }
};

// Why a request was refused. Whoever sent it means something else by it than we do, or too much: where it
// ends is not known, so the connection is closed after the answer.
enum class Fault : std::uint8_t {
  malformed_line,  // a control character, a CR or an LF on its own
  malformed_request_line,
  method_too_long,
  target_too_long,
  unsupported_version,
  malformed_header,  // no name, no colon, whitespace before it, or a folded line
  head_too_large,
  too_many_headers,
  missing_host,
  repeated_host,
  malformed_host,
  repeated_length,  // even if both are equal
  malformed_length,
  length_and_encoding,
  repeated_encoding,
  unsupported_encoding,  // anything but exactly `chunked`
  encoding_in_http_1_0,
  body_too_large,
  malformed_chunk,
  chunks_too_small,  // more framing than data
};

// The status to answer: 400, 413, 414 or 431. Never 5xx: a proxy that asks whether a request may pass takes that for
// our failure, and may let it.
[[nodiscard]] unsigned status_of(Fault fault) noexcept;

// What is wrong, for the body of the answer.
[[nodiscard]] std::string_view text_of(Fault fault) noexcept;

}  // namespace weir::wire::http1
