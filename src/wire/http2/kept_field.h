// The header fields of a request that are kept; of one that is repeated, the first. The others only count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::wire::http2 {

enum class Field : std::uint8_t {
  method,
  path,
  content_type,
  grpc_timeout,
  grpc_encoding,
  weir_token,
  authorization,
};
inline constexpr std::size_t kept_fields = 7;

[[nodiscard]] std::optional<Field> field_named(std::string_view name) noexcept;

}  // namespace weir::wire::http2
