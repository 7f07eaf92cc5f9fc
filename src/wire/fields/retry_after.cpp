#include "wire/fields/retry_after.h"

#include <algorithm>

#include "wire/fields/delta_seconds.h"
#include "wire/fields/http_date.h"
#include "wire/fields/text_cursor.h"

namespace weir::wire {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  take_while(text, is_space_or_tab);
  while (!text.empty() && is_space_or_tab(text.back())) text.remove_suffix(1);
  return text;
}

Duration parse_seconds(std::string_view digits) noexcept {
  std::uint64_t seconds = 0;
  for (const char digit : digits) {
    seconds = std::min(seconds * 10 + static_cast<std::uint64_t>(digit - '0'), most_delta_seconds);
  }
  return delta_seconds(seconds);
}

// `date - now`, for any clock at all.
Duration time_until(Instant date, Instant now) noexcept {
  if (date <= now) return Duration::zero();
  return date - longest_wait >= now ? longest_wait : date - now;
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view field, Instant now) noexcept {
  if (field.size() > max_retry_after_length) return {};
  const std::string_view text = trimmed(field);
  if (!text.empty() && std::ranges::all_of(text, is_digit)) return parse_seconds(text);
  const auto date = parse_http_date(text, now);
  return date ? std::optional{time_until(*date, now)} : std::nullopt;
}

}  // namespace weir::wire
