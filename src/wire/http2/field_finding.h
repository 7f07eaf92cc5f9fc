// What HTTP asks of one header field of a request (RFC 9113, 8.2 and 8.3), whatever stands beside it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/http2/kept_field.h"

namespace weir::wire::http2 {

struct FieldFinding {
  // What the request is known to have with this field. The first six may be there once.
  enum Mark : std::uint16_t {
    method = 1U << 0U,
    scheme = 1U << 1U,
    authority = 1U << 2U,
    path = 1U << 3U,
    host = 1U << 4U,
    content_length = 1U << 5U,
    regular = 1U << 6U,  // a field whose name does not begin with `:`, behind which no other may come
    connect = 1U << 7U,  // by its method
    options = 1U << 8U,
    of_the_web = 1U << 9U,  // by its scheme: http or https
    rooted = 1U << 10U,     // by its path: /...
    asterisk = 1U << 11U,   // *
  };

  bool malformed = false;        // and so is the request
  bool malformed_value = false;  // the same, but the value alone is, and nothing else depends on it
  std::uint16_t marks = 0;
  std::optional<Field> field = std::nullopt;  // if it is one that is kept
  std::uint64_t length = 0;                   // that content-length says
};

[[nodiscard]] FieldFinding examine(std::string_view name, std::string_view value) noexcept;

}  // namespace weir::wire::http2
