// The messages of Envoy's rate limit service (envoy.service.ratelimit.v3), as far as they are used: requests are read,
// responses are appended to the caller's buffer.
//
// Domain, keys and values may be any bytes: clients of a proxy choose some of them, and invalid UTF-8 must not prevent
// a decision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/limit.h"
#include "weir/time.h"
#include "wire/protobuf.h"

namespace weir::wire::rls {

// A month has 30 days, a year 365.
enum class Unit : std::uint8_t { unknown, second, minute, hour, day, month, year, week };

// Empty for `unknown` and for invalid units.
[[nodiscard]] std::optional<Duration> length_of(std::uint32_t unit) noexcept;

struct UnitRate {
  std::uint64_t requests = 0;
  Unit unit = Unit::unknown;

  friend bool operator==(const UnitRate&, const UnitRate&) = default;
};

// The rate in its own unit, or else in the shortest unit in which it is a whole number, or else with Unit::unknown.
[[nodiscard]] UnitRate in_units(const Rate& rate) noexcept;

struct Entry {
  std::string_view key;
  std::string_view value;

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct LimitOverride {
  std::uint32_t requests_per_unit = 0;
  std::uint32_t unit = 0;  // as sent; may not be a valid Unit

  friend bool operator==(const LimitOverride&, const LimitOverride&) = default;
};

struct Descriptor {
  std::size_t first_entry = 0;
  std::size_t entry_count = 0;
  std::optional<LimitOverride> limit;
  std::optional<std::uint64_t> hits_addend;
  bool is_negative_hits = false;
};

// Holds views into the message. Meant to be reused: allocates only for a larger request than before.
class RateLimitRequest {
 public:
  // Further elements of a request are dropped; see has_too_many().
  static constexpr std::size_t max_descriptors = 64;
  static constexpr std::size_t max_entries = 4'096;  // maximum over all descriptors

  // Returns false if `message` is malformed; the contents must then not be used.
  [[nodiscard]] bool read(std::string_view message);

  // True if elements were dropped.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }

  [[nodiscard]] std::string_view domain() const noexcept { return domain_; }
  [[nodiscard]] std::span<const Descriptor> descriptors() const noexcept { return descriptors_; }
  [[nodiscard]] std::span<const Entry> entries_of(const Descriptor& descriptor) const noexcept {
    return std::span(entries_).subspan(descriptor.first_entry, descriptor.entry_count);
  }
  [[nodiscard]] std::uint32_t hits_addend() const noexcept { return hits_addend_; }

  // The descriptor's own hits, even if zero; otherwise the hits of the request, but at least 1.
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

enum class Code : std::uint8_t { unknown = 0, ok = 1, over_limit = 2 };

struct CurrentLimit {
  UnitRate rate;
  std::string_view name;  // may be empty
};

struct DescriptorStatus {
  Code code = Code::ok;
  std::optional<CurrentLimit> current_limit{};
  std::uint64_t limit_remaining = 0;               // clamped to 2^32-1
  std::optional<Duration> duration_until_reset{};  // rounded up to seconds
};

class RateLimitResponse {
 public:
  RateLimitResponse(std::string& out, Code overall);

  // Must be called in the order of the descriptors.
  void status(const DescriptorStatus& status);
  // A header for the client of the proxy. The name is converted to lower case.
  void response_header(std::string_view name, std::string_view value);
  void raw_body(std::string_view body);
  // `write` appends the fields of a google.protobuf.Struct to the same buffer.
  template <class Write>
  void dynamic_metadata(const Write& write) {
    protobuf::append_message(out_, 6, write);
  }

 private:
  std::string& out_;
};

}  // namespace weir::wire::rls
