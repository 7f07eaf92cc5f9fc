// envoy.service.ratelimit.v3.RateLimitRequest, as far as it is used. Views into the bytes that were read.
//
// Domain, keys and values are bytes, whatever they are: the client of a proxy chooses some of them, and a byte that is
// not UTF-8 is no reason to leave its request unjudged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wire/protobuf/reader.h"

namespace weir::wire::rls {

struct Entry {
  std::string_view key;
  std::string_view value;

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct LimitOverride {
  std::uint32_t requests_per_unit = 0;
  std::uint32_t unit = 0;  // as sent: of Unit, or nothing we know

  friend bool operator==(const LimitOverride&, const LimitOverride&) = default;
};

struct Descriptor {
  std::size_t first_entry = 0;
  std::size_t entry_count = 0;
  std::optional<LimitOverride> limit;
  std::optional<std::uint64_t> hits_addend;
  bool is_negative_hits = false;
};

// Meant to be used again: once it has held the largest request, nothing is allocated.
class RateLimitRequest {
 public:
  // As many are kept of one request; what is beyond is only counted.
  static constexpr std::size_t most_descriptors = 64;
  static constexpr std::size_t most_entries = 4'096;  // of all descriptors together

  // False if `message` is none; then what it says is not to be used.
  [[nodiscard]] bool read(std::string_view message);

  // It has more than is kept: what is here is not all that it says.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }

  [[nodiscard]] std::string_view domain() const noexcept { return domain_; }
  [[nodiscard]] std::span<const Descriptor> descriptors() const noexcept { return descriptors_; }
  [[nodiscard]] std::span<const Entry> entries_of(const Descriptor& descriptor) const noexcept {
    return std::span(entries_).subspan(descriptor.first_entry, descriptor.entry_count);
  }
  [[nodiscard]] std::uint32_t hits_addend() const noexcept { return hits_addend_; }

  // The descriptor's own, zero included; else the request's, but at least one.
  [[nodiscard]] std::uint64_t hits_of(const Descriptor& descriptor) const noexcept;

 private:
  [[nodiscard]] bool read_descriptor(protobuf::Reader fields);
  [[nodiscard]] bool read_entry(protobuf::Reader fields);

  std::string_view domain_;
  std::uint32_t hits_addend_ = 0;
  bool has_too_many_ = false;
  std::vector<Descriptor> descriptors_;
  std::vector<Entry> entries_;
};

}  // namespace weir::wire::rls
