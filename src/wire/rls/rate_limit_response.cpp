#include "wire/rls/rate_limit_response.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "wire/fields/delta_seconds.h"
#include "wire/protobuf/writer.h"

namespace weir::wire::rls {
namespace {

using protobuf::bytes_size;
using protobuf::number_size;
using protobuf::put_bytes;
using protobuf::put_number;
using protobuf::put_size;
using protobuf::room_in;

std::uint64_t held_to_32_bits(std::uint64_t number) noexcept {
  return std::min<std::uint64_t>(number, UINT32_MAX);
}

// A number that is left out if it is zero.
std::size_t size_unless_zero(std::uint32_t field, std::uint64_t number) noexcept {
  return number == 0 ? 0 : number_size(field, number);
}

char* put_unless_zero(char* to, std::uint32_t field, std::uint64_t number) noexcept {
  return number == 0 ? to : put_number(to, field, number);
}

// RateLimitResponse.RateLimit.
struct LimitMessage {
  explicit LimitMessage(const CurrentLimit& limit) noexcept
      : requests(held_to_32_bits(limit.rate.requests)),
        unit(static_cast<std::uint64_t>(limit.rate.unit)),
        name(limit.name),
        size(size_unless_zero(1, requests) + size_unless_zero(2, unit) +
             (name.empty() ? 0 : bytes_size(3, name.size()))) {}

  [[nodiscard]] char* put(char* to) const noexcept {
    to = put_unless_zero(to, 1, requests);
    to = put_unless_zero(to, 2, unit);
    return name.empty() ? to : put_bytes(to, 3, name);
  }

  std::uint64_t requests;
  std::uint64_t unit;
  std::string_view name;
  std::size_t size;
};

using Eight = std::uint64_t;

// In ASCII; other bytes are as they were.
constexpr Eight lower(Eight text) noexcept {
  constexpr Eight each = 0x0101'0101'0101'0101U;
  const Eight low_bits = text & (0x7F * each);
  const Eight from_a = low_bits + (0x80 - 'A') * each;  // the high bit of a byte says so
  const Eight beyond_z = low_bits + (0x7F - 'Z') * each;
  const Eight is_upper = (from_a ^ beyond_z) & ~text & (0x80 * each);
  return text | is_upper >> 2U;
}

void put_eight_lower(char* to, const char* from) noexcept {
  Eight text = 0;
  std::memcpy(&text, from, sizeof text);
  text = lower(text);
  std::memcpy(to, &text, sizeof text);
}

// Eight at a time; the last may reach back into those before.
char* put_lower(char* to, std::string_view text) noexcept {
  const std::size_t size = text.size();
  if (size < sizeof(Eight)) {
    return std::transform(text.begin(), text.end(), to,
                          [](char c) { return static_cast<char>(lower(static_cast<std::uint8_t>(c))); });
  }
  for (std::size_t i = 0; i + sizeof(Eight) < size; i += sizeof(Eight)) put_eight_lower(to + i, text.data() + i);
  const std::size_t last = size - sizeof(Eight);
  put_eight_lower(to + last, text.data() + last);
  return to + size;
}

}  // namespace

RateLimitResponse::RateLimitResponse(std::string& out, Code overall) : out_(out) {
  protobuf::append_number(out_, 1, static_cast<std::uint64_t>(overall));
}

void RateLimitResponse::status(const DescriptorStatus& status) {
  const auto code = static_cast<std::uint64_t>(status.code);
  const LimitMessage limit(status.current_limit.value_or(CurrentLimit{}));
  const std::uint64_t remaining = held_to_32_bits(status.limit_remaining);
  const std::uint64_t seconds = seconds_up(status.duration_until_reset.value_or(Duration::zero()));
  const std::size_t duration_size = size_unless_zero(1, seconds);

  std::size_t size = number_size(1, code) + size_unless_zero(3, remaining);
  if (status.current_limit) size += bytes_size(2, limit.size);
  if (status.duration_until_reset) size += bytes_size(4, duration_size);

  char* to = put_size(room_in(out_, bytes_size(2, size)), 2, size);
  to = put_number(to, 1, code);
  if (status.current_limit) to = limit.put(put_size(to, 2, limit.size));
  to = put_unless_zero(to, 3, remaining);
  if (status.duration_until_reset) put_unless_zero(put_size(to, 4, duration_size), 1, seconds);
}

void RateLimitResponse::response_header(std::string_view name, std::string_view value) {
  const std::size_t size = bytes_size(1, name.size()) + bytes_size(2, value.size());
  char* to = put_size(room_in(out_, bytes_size(3, size)), 3, size);
  to = put_lower(put_size(to, 1, name.size()), name);
  put_bytes(to, 2, value);
}

void RateLimitResponse::raw_body(std::string_view body) {
  protobuf::append_bytes(out_, 5, body);
}

}  // namespace weir::wire::rls
