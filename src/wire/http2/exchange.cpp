#include "wire/http2/exchange.h"

namespace weir::wire::http2 {
namespace {

constexpr std::size_t kept_capacity = 4096;

void empty(std::string& text) noexcept {
  if (text.capacity() > kept_capacity) std::string().swap(text);  // an assignment would keep the memory
  text.clear();
}

}  // namespace

void Exchange::begin(std::int32_t stream) noexcept {
  stream_ = stream;
  headed_ = complete_ = stirred_ = answered_ = ended_ = waiting_ = gone_ = false;
  fault_ = Fault::none;
  note_ = 0;
  head_bytes_ = taken_ = counted_ = sent_ = trailer_count_ = 0;
  places_ = {};
  shape_ = {};
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
