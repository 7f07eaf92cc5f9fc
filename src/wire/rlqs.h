// The messages of Envoy's rate limit quota service (envoy.service.rate_limit_quota.v3), as far as they are used:
// reports are read, actions are appended to a buffer of the caller.
//
// A bucket's id is a set of (key, value) pairs. Written in the order of the keys it is the same bytes for the same
// bucket, and a BucketId at once: so it is kept, compared and sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/protobuf.h"
#include "wire/rls.h"

namespace weir::wire::rlqs {

using rls::Entry;

// What was reported of one bucket since the last time.
struct Usage {
  std::size_t first_entry = 0;
  std::size_t entry_count = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
};

// RateLimitQuotaUsageReports. Views into the bytes that were read. Meant to be used again.
class UsageReports {
 public:
  // As many are kept of one message; what is beyond is only counted.
  static constexpr std::size_t max_usages = 16'384;
  static constexpr std::size_t max_entries = 65'536;  // of all buckets together

  // False if `message` is none; then what it says is not to be used.
  [[nodiscard]] bool read(std::string_view message);

  // It has more than is kept: what is here is not all that it says.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }

  [[nodiscard]] std::string_view domain() const noexcept { return domain_; }
  [[nodiscard]] std::span<const Usage> usages() const noexcept { return usages_; }
  // By key, each key once.
  [[nodiscard]] std::span<const Entry> entries_of(const Usage& usage) const noexcept {
    return std::span(entries_).subspan(usage.first_entry, usage.entry_count);
  }

 private:
  [[nodiscard]] bool read_usage(protobuf::Reader fields);
  [[nodiscard]] bool read_id(protobuf::Reader fields);
  void put_in_order(Usage& usage);

  std::string_view domain_;
  bool has_too_many_ = false;
  std::vector<Usage> usages_;
  std::vector<Entry> entries_;
};

// Appends a BucketId.
void append_id(std::string& out, std::span<const Entry> entries);
// The entries of one that append_id() wrote.
void read_id(std::string_view id, std::vector<Entry>& entries);

struct TokenBucket {
  std::uint32_t max_tokens = 1;
  std::uint32_t tokens_per_fill = 1;
  std::chrono::seconds fill_interval{1};
};

// RateLimitQuotaResponse. `id` is a BucketId.
class QuotaResponse {
 public:
  explicit QuotaResponse(std::string& out) noexcept : out_(out) {}

  void allow_all(std::string_view id, std::chrono::seconds time_to_live) { blanket(id, time_to_live, 0); }
  void deny_all(std::string_view id, std::chrono::seconds time_to_live) { blanket(id, time_to_live, 1); }
  // Envoy takes an assignment for another one if its numbers differ, but does not look at the seconds of the fill
  // interval; and it cuts the interval to whole seconds. So their number is written as nanoseconds, too.
  void assign(std::string_view id, std::chrono::seconds time_to_live, const TokenBucket& bucket);
  void abandon(std::string_view id);

 private:
  void blanket(std::string_view id, std::chrono::seconds time_to_live, std::uint64_t rule);

  std::string& out_;
};

}  // namespace weir::wire::rlqs
