#include "wire/rls/rate_limit_request.h"

#include <algorithm>

namespace weir::wire::rls {
namespace {

using protobuf::Reader;
using protobuf::WireType;

[[nodiscard]] bool read_into(Reader fields, Entry& entry) {
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) entry.key = fields.bytes();
    if (fields.is(2, WireType::bytes)) entry.value = fields.bytes();
  }
  return fields.ok();
}

// A message that is there twice is one, of what both say: so these add to what is there.
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

}  // namespace

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
  const bool fits = descriptors_.size() < most_descriptors;
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
  const bool fits = entries_.size() < most_entries;
  if (!fits) has_too_many_ = true;
  return read_into(fields, fits ? entries_.emplace_back() : beyond);
}

std::uint64_t RateLimitRequest::hits_of(const Descriptor& descriptor) const noexcept {
  return descriptor.hits_addend ? *descriptor.hits_addend : std::max<std::uint64_t>(1, hits_addend_);
}

}  // namespace weir::wire::rls
