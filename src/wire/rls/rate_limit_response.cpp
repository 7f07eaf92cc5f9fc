#include "wire/rls/rate_limit_response.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "wire/fields/delta_seconds.h"
#include "wire/protobuf/writer.h"

namespace weir::wire::rls {
namespace {

using protobuf::append_bytes;
using protobuf::append_message;
using protobuf::append_number;

std::uint64_t held_to_32_bits(std::uint64_t number) noexcept {
  return std::min<std::uint64_t>(number, UINT32_MAX);
}

void append_current_limit(std::string& out, const CurrentLimit& limit) {
  append_message(out, 2, [&] {
    if (limit.rate.requests > 0) append_number(out, 1, held_to_32_bits(limit.rate.requests));
    if (limit.rate.unit != Unit::unknown) append_number(out, 2, static_cast<std::uint64_t>(limit.rate.unit));
    if (!limit.name.empty()) append_bytes(out, 3, limit.name);
  });
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr std::size_t one_byte = 0x80;  // sizes below it take one

}  // namespace

RateLimitResponse::RateLimitResponse(std::string& out, Code overall) : out_(out) {
  append_number(out_, 1, static_cast<std::uint64_t>(overall));
}

void RateLimitResponse::status(const DescriptorStatus& status) {
  append_message(out_, 2, [&] {
    append_number(out_, 1, static_cast<std::uint64_t>(status.code));
    if (status.current_limit) append_current_limit(out_, *status.current_limit);
    if (status.limit_remaining > 0) append_number(out_, 3, held_to_32_bits(status.limit_remaining));
    if (status.duration_until_reset) {
      append_message(out_, 4, [&] {
        const std::uint64_t seconds = seconds_up(*status.duration_until_reset);
        if (seconds > 0) append_number(out_, 1, seconds);
      });
    }
  });
}

// There are several in every answer, all of them short: so those are written with one step.
void RateLimitResponse::response_header(std::string_view name, std::string_view value) {
  const std::size_t size = 4 + name.size() + value.size();
  if (size >= one_byte) return long_response_header(name, value);
  const std::size_t at = out_.size();
  out_.resize(at + 2 + size);
  char* to = out_.data() + at;
  *to++ = '\x1A';
  *to++ = static_cast<char>(size);
  *to++ = '\x0A';
  *to++ = static_cast<char>(name.size());
  to = std::transform(name.begin(), name.end(), to, lower);
  *to++ = '\x12';
  *to++ = static_cast<char>(value.size());
  std::copy(value.begin(), value.end(), to);
}

void RateLimitResponse::long_response_header(std::string_view name, std::string_view value) {
  append_message(out_, 3, [&] {
    append_bytes(out_, 1, name);
    const auto begin = std::prev(out_.end(), static_cast<std::ptrdiff_t>(name.size()));
    std::transform(begin, out_.end(), begin, lower);
    append_bytes(out_, 2, value);
  });
}

void RateLimitResponse::raw_body(std::string_view body) {
  append_bytes(out_, 5, body);
}

}  // namespace weir::wire::rls
