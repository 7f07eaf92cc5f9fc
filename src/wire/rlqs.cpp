#include "wire/rlqs.h"

#include <algorithm>

namespace weir::wire::rlqs {
namespace {

using protobuf::append_bytes;
using protobuf::append_message;
using protobuf::append_number;
using protobuf::Reader;
using protobuf::WireType;

[[nodiscard]] bool read_pair(Reader fields, Entry& entry) {
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) entry.key = fields.bytes();
    if (fields.is(2, WireType::bytes)) entry.value = fields.bytes();
  }
  return fields.ok();
}

// Validates a google.protobuf.Duration whose value is not used.
[[nodiscard]] bool is_message(Reader fields) {
  while (fields.next()) {
  }
  return fields.ok();
}

void append_duration(std::string& out, std::uint32_t field, std::chrono::seconds seconds, std::uint64_t nanoseconds) {
  append_message(out, field, [&] {
    if (seconds.count() != 0) append_number(out, 1, static_cast<std::uint64_t>(seconds.count()));
    if (nanoseconds != 0) append_number(out, 2, nanoseconds);
  });
}

// Appends a QuotaAssignmentAction; `write` appends its strategy.
template <class Write>
void append_assignment(std::string& out, std::string_view id, std::chrono::seconds time_to_live, const Write& write) {
  append_message(out, 1, [&] {
    append_bytes(out, 1, id);
    append_message(out, 2, [&] {
      append_duration(out, 2, time_to_live, 0);
      append_message(out, 3, write);
    });
  });
}

}  // namespace

bool UsageReports::read(std::string_view message) {
  domain_ = {};
  has_too_many_ = false;
  usages_.clear();
  entries_.clear();
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) domain_ = fields.bytes();
    if (fields.is(2, WireType::bytes) && !read_usage(fields.message())) return false;
  }
  return fields.ok();
}

bool UsageReports::read_usage(Reader fields) {
  Usage beyond;
  const bool fits = usages_.size() < max_usages;
  if (!fits) has_too_many_ = true;
  Usage& usage = fits ? usages_.emplace_back() : beyond;
  usage.first_entry = entries_.size();
  while (fields.next()) {
    if (fields.is(1, WireType::bytes) && !read_id(fields.message())) return false;
    if (fields.is(2, WireType::bytes) && !is_message(fields.message())) return false;
    if (fields.is(3, WireType::varint)) usage.allowed = fields.varint();
    if (fields.is(4, WireType::varint)) usage.denied = fields.varint();
  }
  sort_entries(usage);
  return fields.ok();
}

bool UsageReports::read_id(Reader fields) {
  while (fields.next()) {
    if (!fields.is(1, WireType::bytes)) continue;
    Entry beyond;
    const bool fits = entries_.size() < max_entries;
    if (!fits) has_too_many_ = true;
    if (!read_pair(fields.message(), fits ? entries_.emplace_back() : beyond)) return false;
  }
  return fields.ok();
}

// The last value of a duplicate key takes precedence.
void UsageReports::sort_entries(Usage& usage) {
  const auto own = std::span(entries_).subspan(usage.first_entry);
  std::ranges::stable_sort(own, {}, &Entry::key);
  const auto last =
      std::unique(own.rbegin(), own.rend(), [](const Entry& a, const Entry& b) { return a.key == b.key; });
  const auto count = static_cast<std::size_t>(last - own.rbegin());
  std::move(own.end() - static_cast<std::ptrdiff_t>(count), own.end(), own.begin());
  usage.entry_count = count;
  entries_.resize(usage.first_entry + count);
}

void append_id(std::string& out, std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    append_message(out, 1, [&] {
      append_bytes(out, 1, entry.key);
      append_bytes(out, 2, entry.value);
    });
  }
}

void read_id(std::string_view id, std::vector<Entry>& entries) {
  entries.clear();
  Reader fields(id);
  while (fields.next()) {
    if (fields.is(1, WireType::bytes) && !read_pair(fields.message(), entries.emplace_back())) return;
  }
}

void QuotaResponse::blanket(std::string_view id, std::chrono::seconds time_to_live, std::uint64_t rule) {
  append_assignment(out_, id, time_to_live, [&] { append_number(out_, 1, rule); });
}

void QuotaResponse::assign(std::string_view id, std::chrono::seconds time_to_live, const TokenBucket& bucket) {
  append_assignment(out_, id, time_to_live, [&] {
    append_message(out_, 3, [&] {
      append_number(out_, 1, bucket.max_tokens);
      append_message(out_, 2, [&] { append_number(out_, 1, bucket.tokens_per_fill); });
      append_duration(out_, 3, bucket.fill_interval, static_cast<std::uint64_t>(bucket.fill_interval.count()));
    });
  });
}

void QuotaResponse::abandon(std::string_view id) {
  append_message(out_, 1, [&] {
    append_bytes(out_, 1, id);
    append_bytes(out_, 3, {});
  });
}

}  // namespace weir::wire::rlqs
