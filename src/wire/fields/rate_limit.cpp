#include "wire/fields/rate_limit.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/date.h"
#include "wire/fields/delta_seconds.h"
#include "wire/fields/structured_list.h"

namespace weir::wire {
namespace {

// The value of a parameter; the last of duplicate keys takes precedence.
using Given = std::optional<BareItem>;

bool is_count_or_absent(const Given& given, std::int64_t min) noexcept {
  return !given || (given->type == BareItem::Type::integer && given->integer >= min);
}

bool is_type_or_absent(const Given& given, BareItem::Type type) noexcept {
  return !given || given->type == type;
}

std::uint64_t count(const Given& given) noexcept {
  return static_cast<std::uint64_t>(given->integer);
}

std::optional<Duration> seconds(const Given& given) noexcept {
  return given ? std::optional{delta_seconds(count(given))} : std::nullopt;
}

std::string_view text(const Given& given) noexcept {
  return given ? given->text : std::string_view{};
}

QuotaUnit unit(const Given& given) noexcept {
  if (!given || given->text == "requests") return QuotaUnit::requests;
  if (given->text == "content-bytes") return QuotaUnit::content_bytes;
  if (given->text == "concurrent-requests") return QuotaUnit::concurrent_requests;
  return QuotaUnit::unknown;
}

std::optional<RateLimit> read_limit(std::string_view name, ListReader& list) noexcept {
  Given r, t, pk;
  while (const auto parameter = list.next_parameter()) {
    if (parameter->key == "r") r = parameter->value;
    if (parameter->key == "t") t = parameter->value;
    if (parameter->key == "pk") pk = parameter->value;
  }
  if (!r || !is_count_or_absent(r, 0) || !is_count_or_absent(t, 0)) return {};
  if (!is_type_or_absent(pk, BareItem::Type::byte_sequence)) return {};
  return RateLimit{.name = name, .remaining = count(r), .more_after = seconds(t), .partition_key = text(pk)};
}

std::optional<RateLimitPolicy> read_policy(std::string_view name, ListReader& list) noexcept {
  Given q, w, qu, pk;
  while (const auto parameter = list.next_parameter()) {
    if (parameter->key == "q") q = parameter->value;
    if (parameter->key == "w") w = parameter->value;
    if (parameter->key == "qu") qu = parameter->value;
    if (parameter->key == "pk") pk = parameter->value;
  }
  if (!q || !is_count_or_absent(q, 0) || !is_count_or_absent(w, 1)) return {};
  if (!is_type_or_absent(qu, BareItem::Type::string)) return {};
  if (!is_type_or_absent(pk, BareItem::Type::byte_sequence)) return {};
  return RateLimitPolicy{
      .name = name, .quota = count(q), .window = seconds(w), .unit = unit(qu), .partition_key = text(pk)};
}

template <class Member>
std::optional<std::vector<Member>> read_all(std::string_view field,
                                            std::optional<Member> (*read)(std::string_view, ListReader&) noexcept) {
  ListReader list(field);
  std::vector<Member> members;
  while (const auto name = list.next_member()) {
    if (name->type != BareItem::Type::string) return {};
    const auto member = read(name->text, list);
    if (!member) return {};
    members.push_back(*member);
  }
  if (!list.well_formed() || members.empty()) return {};
  return members;
}

Duration parse_seconds(std::string_view digits) noexcept {
  std::uint64_t seconds = 0;
  for (const char digit : digits) {
    seconds = std::min(seconds * 10 + static_cast<std::uint64_t>(digit - '0'), max_delta_seconds);
  }
  return delta_seconds(seconds);
}

// Returns `date - now` without overflow.
Duration time_until(Instant date, Instant now) noexcept {
  if (date <= now) return Duration::zero();
  return date - max_wait >= now ? max_wait : date - now;
}

}  // namespace

std::optional<std::vector<RateLimit>> parse_rate_limit(std::string_view field) {
  return read_all<RateLimit>(field, read_limit);
}

std::optional<std::vector<RateLimitPolicy>> parse_rate_limit_policy(std::string_view field) {
  return read_all<RateLimitPolicy>(field, read_policy);
}

std::optional<Duration> parse_retry_after(std::string_view field, Instant now) noexcept {
  if (field.size() > max_retry_after_length) return {};
  const std::string_view text = base::trimmed(field);
  if (!text.empty() && std::ranges::all_of(text, base::is_digit)) return parse_seconds(text);
  const auto date = text::parse_http_date(text, now);
  return date ? std::optional{time_until(*date, now)} : std::nullopt;
}

}  // namespace weir::wire
