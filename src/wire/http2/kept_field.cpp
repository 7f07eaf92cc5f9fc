#include "wire/http2/kept_field.h"

namespace weir::wire::http2 {

std::optional<Field> field_named(std::string_view name) noexcept {
  switch (name.size()) {
    case 5:
      if (name == ":path") return Field::path;
      break;
    case 7:
      if (name == ":method") return Field::method;
      break;
    case 12:
      if (name == "content-type") return Field::content_type;
      if (name == "grpc-timeout") return Field::grpc_timeout;
      if (name == "x-weir-token") return Field::weir_token;
      break;
    case 13:
      if (name == "grpc-encoding") return Field::grpc_encoding;
      if (name == "authorization") return Field::authorization;
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace weir::wire::http2
