#include "wire/rls.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "text/append_written.h"
#include "wire/fields/delta_seconds.h"

namespace weir::wire::rls {
namespace {

struct Length {
  Unit unit;
  Duration length;
};

constexpr std::array lengths{
    Length{Unit::second, std::chrono::seconds{1}}, Length{Unit::minute, std::chrono::minutes{1}},
    Length{Unit::hour, std::chrono::hours{1}},     Length{Unit::day, std::chrono::days{1}},
    Length{Unit::week, std::chrono::days{7}},      Length{Unit::month, std::chrono::days{30}},
    Length{Unit::year, std::chrono::days{365}},
};

// The requests per `length`, if that is a whole number.
std::optional<std::uint64_t> requests_in(Duration length, const Rate& rate) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{rate.count} * static_cast<std::uint64_t>(length.count());
  const auto per = static_cast<std::uint64_t>(rate.per.count());
  const Wide requests = product / per;
  if (requests * per != product || requests > UINT64_MAX) return std::nullopt;
  return static_cast<std::uint64_t>(requests);
}

using protobuf::Reader;
using protobuf::WireType;

[[nodiscard]] bool read_into(Reader fields, Entry& entry) {
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) entry.key = fields.bytes();
    if (fields.is(2, WireType::bytes)) entry.value = fields.bytes();
  }
  return fields.ok();
}

// Duplicate messages are merged, so these functions update the existing value.
[[nodiscard]] bool read_override(Reader fields, std::optional<LimitOverride>& limit) {
  if (!limit) limit.emplace();
  while (fields.next()) {
    if (fields.is(1, WireType::varint)) limit->requests_per_unit = static_cast<std::uint32_t>(fields.varint());
    if (fields.is(2, WireType::varint)) limit->unit = static_cast<std::uint32_t>(fields.varint());
  }
  return fields.ok();
}

[[nodiscard]] bool read_wrapped(Reader fields, std::optional<std::uint64_t>& number) {
  if (!number) number = 0;
  while (fields.next()) {
    if (fields.is(1, WireType::varint)) number = fields.varint();
  }
  return fields.ok();
}

using protobuf::bytes_size;
using protobuf::number_size;
using protobuf::put_bytes;
using protobuf::put_number;
using protobuf::put_size;

std::uint64_t clamp_to_32_bits(std::uint64_t number) noexcept {
  return std::min<std::uint64_t>(number, UINT32_MAX);
}

// Zero is the default value and omitted.
std::size_t size_unless_zero(std::uint32_t field, std::uint64_t number) noexcept {
  return number == 0 ? 0 : number_size(field, number);
}

char* put_unless_zero(char* to, std::uint32_t field, std::uint64_t number) noexcept {
  return number == 0 ? to : put_number(to, field, number);
}

// RateLimitResponse.RateLimit.
struct LimitMessage {
  explicit LimitMessage(const CurrentLimit& limit) noexcept
      : requests(clamp_to_32_bits(limit.rate.requests)),
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

}  // namespace

std::optional<Duration> length_of(std::uint32_t unit) noexcept {
  for (const Length& known : lengths) {
    if (static_cast<std::uint32_t>(known.unit) == unit) return known.length;
  }
  return std::nullopt;
}

UnitRate in_units(const Rate& rate) noexcept {
  if (rate.per <= Duration::zero()) return {rate.count, Unit::unknown};
  for (const Length& known : lengths) {
    if (known.length == rate.per) return {rate.count, known.unit};
  }
  for (const Length& known : lengths) {
    if (const auto requests = requests_in(known.length, rate)) return {*requests, known.unit};
  }
  return {rate.count, Unit::unknown};
}

bool RateLimitRequest::read(std::string_view message) {
  domain_ = {};
  hits_addend_ = 0;
  has_too_many_ = false;
  descriptors_.clear();
  entries_.clear();
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) domain_ = fields.bytes();
    if (fields.is(2, WireType::bytes) && !read_descriptor(fields.message())) return false;
    if (fields.is(3, WireType::varint)) hits_addend_ = static_cast<std::uint32_t>(fields.varint());
  }
  return fields.ok();
}

bool RateLimitRequest::read_descriptor(Reader fields) {
  Descriptor beyond;
  const bool fits = descriptors_.size() < max_descriptors;
  if (!fits) has_too_many_ = true;
  Descriptor& descriptor = fits ? descriptors_.emplace_back() : beyond;
  descriptor.first_entry = entries_.size();
  while (fields.next()) {
    if (fields.is(1, WireType::bytes) && !read_entry(fields.message())) return false;
    if (fields.is(2, WireType::bytes) && !read_override(fields.message(), descriptor.limit)) return false;
    if (fields.is(3, WireType::bytes) && !read_wrapped(fields.message(), descriptor.hits_addend)) return false;
    if (fields.is(4, WireType::varint)) descriptor.is_negative_hits = fields.varint() != 0;
  }
  descriptor.entry_count = entries_.size() - descriptor.first_entry;
  return fields.ok();
}

bool RateLimitRequest::read_entry(Reader fields) {
  Entry beyond;
  const bool fits = entries_.size() < max_entries;
  if (!fits) has_too_many_ = true;
  return read_into(fields, fits ? entries_.emplace_back() : beyond);
}

std::uint64_t RateLimitRequest::hits_of(const Descriptor& descriptor) const noexcept {
  return descriptor.hits_addend ? *descriptor.hits_addend : std::max<std::uint64_t>(1, hits_addend_);
}

RateLimitResponse::RateLimitResponse(std::string& out, Code overall) : out_(out) {
  protobuf::append_number(out_, 1, static_cast<std::uint64_t>(overall));
}

void RateLimitResponse::status(const DescriptorStatus& status) {
  const auto code = static_cast<std::uint64_t>(status.code);
  const LimitMessage limit(status.current_limit.value_or(CurrentLimit{}));
  const std::uint64_t remaining = clamp_to_32_bits(status.limit_remaining);
  const std::uint64_t seconds = seconds_up(status.duration_until_reset.value_or(Duration::zero()));
  const std::size_t duration_size = size_unless_zero(1, seconds);

  std::size_t size = number_size(1, code) + size_unless_zero(3, remaining);
  if (status.current_limit) size += bytes_size(2, limit.size);
  if (status.duration_until_reset) size += bytes_size(4, duration_size);

  text::append_written(out_, bytes_size(2, size), [&](char* to) {
    to = put_number(put_size(to, 2, size), 1, code);
    if (status.current_limit) to = limit.put(put_size(to, 2, limit.size));
    to = put_unless_zero(to, 3, remaining);
    if (status.duration_until_reset) put_unless_zero(put_size(to, 4, duration_size), 1, seconds);
  });
}

void RateLimitResponse::response_header(std::string_view name, std::string_view value) {
  const std::size_t size = bytes_size(1, name.size()) + bytes_size(2, value.size());
  text::append_written(out_, bytes_size(3, size), [&](char* to) {
    to = base::put_lower(put_size(put_size(to, 3, size), 1, name.size()), name);
    put_bytes(to, 2, value);
  });
}

void RateLimitResponse::raw_body(std::string_view body) {
  protobuf::append_bytes(out_, 5, body);
}

}  // namespace weir::wire::rls
