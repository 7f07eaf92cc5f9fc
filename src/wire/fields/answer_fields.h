// The header fields that describe a limit to a client: RateLimit and RateLimit-Policy (IETF httpapi draft -10),
// X-RateLimit-*, the legacy RateLimit-* fields, and Retry-After.
//
// Numbers are clamped to the 15 digits of a Structured Field. Seconds are rounded up, so that clients do not retry too
// early. Pure functions that allocate nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "text/decimal.h"
#include "weir/field_choice.h"
#include "weir/time.h"

namespace weir::wire {

// The largest Integer of a Structured Field: 15 digits.
inline constexpr std::uint64_t max_field_integer = 999'999'999'999'999;

// The value of a field, built in place. Text beyond the capacity is dropped; a test ensures that no writer exceeds it.
class FieldText {
 public:
  static constexpr std::size_t capacity = 320;

  // Not defaulted, because value-initialization would then zero the text, and this is created for every answer.
  FieldText() noexcept {}  // NOLINT(modernize-use-equals-default)

  // Valid as long as this object.
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

  void append(std::string_view text) noexcept {
    const std::size_t length = std::min(text.size(), capacity - size_);
    if (length > 0) std::memcpy(text_.data() + size_, text.data(), length);
    size_ += length;
  }

  void append(char c) noexcept {
    if (size_ < capacity) text_[size_++] = c;
  }

  void append_integer(std::uint64_t number) noexcept {
    const std::uint64_t clamped = std::min(number, max_field_integer);
    if (capacity - size_ < text::digits_of(clamped)) return;
    size_ = static_cast<std::size_t>(text::put_number(text_.data() + size_, clamped) - text_.data());
  }

 private:
  std::array<char, capacity> text_;
  std::size_t size_ = 0;
};

// The limit that an answer describes and the state of its consumer.
struct AnswerFields {
  std::string_view policy;  // the limit's name
  std::uint64_t quota = 0;
  bool is_concurrency = false;  // a concurrency limit, for which no reset time is known
  Duration window{};            // the length of the window; zero omits it
  std::uint64_t remaining = 0;
  std::optional<Duration> until_more = {};   // time until `remaining` next grows; empty when full or unknown
  Duration reset_after{};                    // time until the quota is full; omitted for a concurrency limit
  std::optional<Duration> retry_after = {};  // wait after a denial; empty when admitted, and when waiting does not help
};

// X-RateLimit-Reset in seconds from now or since the epoch.
enum class ResetForm : std::uint8_t { delta, epoch };

// The maximum length of AnswerFields::policy. Bytes that a Structured Field String cannot contain are percent-encoded.
inline constexpr std::size_t max_policy_name = 128;

// "default";q=100;w=60 and "default";r=50;t=30; "running";q=5;qu="concurrent-requests" and "running";r=2. The second
// argument is the result of count_field, which other fields share.
[[nodiscard]] FieldText rate_limit_policy_field(const AnswerFields& answer, std::string_view quota) noexcept;
[[nodiscard]] FieldText rate_limit_field(const AnswerFields& answer, std::string_view remaining) noexcept;
[[nodiscard]] FieldText reset_field(Duration reset_after, ResetForm form, Instant now) noexcept;
[[nodiscard]] FieldText count_field(std::uint64_t count) noexcept;

[[nodiscard]] inline FieldText rate_limit_policy_field(const AnswerFields& answer) noexcept {
  return rate_limit_policy_field(answer, count_field(answer.quota).view());
}
[[nodiscard]] inline FieldText rate_limit_field(const AnswerFields& answer) noexcept {
  return rate_limit_field(answer, count_field(answer.remaining).view());
}

// Never earlier than parameter `t` of RateLimit, which a client would use if this field were missing.
[[nodiscard]] FieldText retry_after_field(Duration retry_after, std::optional<Duration> until_more) noexcept;

// Calls send(name, value) for each field of the answer, both as std::string_view; the value is valid during the call.
template <class Send>
void for_each_field(const AnswerFields& answer, const FieldChoice& choice, Instant now, Send&& send) {
  const FieldText quota = count_field(answer.quota);
  const FieldText remaining = count_field(answer.remaining);
  if (choice.rate_limit) {
    send(std::string_view{"RateLimit-Policy"}, rate_limit_policy_field(answer, quota.view()).view());
    send(std::string_view{"RateLimit"}, rate_limit_field(answer, remaining.view()).view());
  }
  const auto send_three = [&](const std::array<std::string_view, 3>& names, ResetForm form) {
    send(names[0], quota.view());
    send(names[1], remaining.view());
    if (!answer.is_concurrency) send(names[2], reset_field(answer.reset_after, form, now).view());
  };
  if (choice.x_rate_limit) {
    send_three({"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
               choice.x_reset_as_epoch ? ResetForm::epoch : ResetForm::delta);
  }
  if (choice.legacy_fields) {
    send_three({"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}, ResetForm::delta);
  }
  if (answer.retry_after) {
    send(std::string_view{"Retry-After"},
         retry_after_field(*answer.retry_after + choice.more_retry_after, answer.until_more).view());
  }
}

}  // namespace weir::wire
