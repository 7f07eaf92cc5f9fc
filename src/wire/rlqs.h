// The messages of Envoy's rate limit quota service (envoy.service.rate_limit_quota.v3), as far as they are used:
// reports are read, actions are appended to the caller's buffer.
//
// A bucket id is a set of (key, value) pairs. It is stored, compared and sent as a serialized BucketId with sorted
// keys, which is unique for each bucket.
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

// The usage of one bucket since the last report.
struct Usage {
  std::size_t first_entry = 0;
  std::size_t entry_count = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
};

// RateLimitQuotaUsageReports. Holds views into the message. Meant to be reused.
class UsageReports {
 public:
  // Further elements of a message are dropped; see has_too_many().
  static constexpr std::size_t max_usages = 16'384;
  static constexpr std::size_t max_entries = 65'536;  // maximum over all buckets

  // Returns false if `message` is malformed; the contents must then not be used.
  [[nodiscard]] bool read(std::string_view message);

  // True if elements were dropped.
  [[nodiscard]] bool has_too_many() const noexcept { return has_too_many_; }

  [[nodiscard]] std::string_view domain() const noexcept { return domain_; }
  [[nodiscard]] std::span<const Usage> usages() const noexcept { return usages_; }
  // Sorted by key, without duplicates.
  [[nodiscard]] std::span<const Entry> entries_of(const Usage& usage) const noexcept {
    return std::span(entries_).subspan(usage.first_entry, usage.entry_count);
  }

 private:
  [[nodiscard]] bool read_usage(protobuf::Reader fields);
  [[nodiscard]] bool read_id(protobuf::Reader fields);
  void sort_entries(Usage& usage);

  std::string_view domain_;
  bool has_too_many_ = false;
  std::vector<Usage> usages_;
  std::vector<Entry> entries_;
};

// Appends a BucketId.
void append_id(std::string& out, std::span<const Entry> entries);
// Reads an id that append_id() wrote.
void read_id(std::string_view id, std::vector<Entry>& entries);

struct TokenBucket {
  std::uint32_t max_tokens = 1;
  std::uint32_t tokens_per_fill = 1;
  std::chrono::seconds fill_interval{1};
};

// Appends a RateLimitQuotaResponse. `id` is a serialized BucketId.
class QuotaResponse {
 public:
  explicit QuotaResponse(std::string& out) noexcept : out_(out) {}

  void allow_all(std::string_view id, std::chrono::seconds time_to_live) { blanket(id, time_to_live, 0); }
  void deny_all(std::string_view id, std::chrono::seconds time_to_live) { blanket(id, time_to_live, 1); }
  // Envoy ignores an assignment that equals the previous one, but does not compare the seconds of the fill interval,
  // and truncates the interval to whole seconds. The seconds are therefore also written as nanoseconds.
  void assign(std::string_view id, std::chrono::seconds time_to_live, const TokenBucket& bucket);
  void abandon(std::string_view id);

 private:
  void blanket(std::string_view id, std::chrono::seconds time_to_live, std::uint64_t rule);

  std::string& out_;
};

}  // namespace weir::wire::rlqs
