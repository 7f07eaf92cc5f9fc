#include "wire/http2/exchange.h"

namespace weir::wire::http2 {
namespace {

constexpr std::size_t kept_capacity = 4096;

void empty(std::string& text) noexcept {
  if (text.capacity() > kept_capacity) text = std::string();
  text.clear();
}

}  // namespace

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

void Exchange::begin(std::int32_t stream) noexcept {
  stream_ = stream;
  headed_ = complete_ = stirred_ = answered_ = ended_ = waiting_ = gone_ = false;
  fault_ = Fault::none;
  note_ = 0;
  head_bytes_ = taken_ = counted_ = sent_ = trailer_count_ = 0;
  places_ = {};
  seen_unfinished_.reset();
}

void Exchange::keep(Field field, std::string_view value) {
  Place& place = places_[static_cast<std::size_t>(field)];
  if (place.size > 0) return;
  place = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(value.size())};
  text_.append(value);
}

void Exchange::forget() noexcept {
  empty(text_);
  empty(body_);
  empty(reply_);
}

}  // namespace weir::wire::http2
