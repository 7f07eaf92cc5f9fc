// What an answer tells its client about a limit, as header fields: RateLimit and RateLimit-Policy (IETF httpapi
// draft -10), X-RateLimit-*, the older triple RateLimit-*, and Retry-After.
//
// Numbers stay within a Structured Field's 15 digits; seconds are rounded up, so that nobody is told to come back
// too early. Pure; allocates nothing; callable from anywhere.
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
inline constexpr std::uint64_t largest_field_integer = 999'999'999'999'999;

// The value of a field, built from left to right in place. What does not fit is left off: its writers keep within the
// capacity, and a test holds them to it.
class FieldText {
 public:
  static constexpr std::size_t capacity = 320;

  // Not zeroed, as a defaulted one would be where it is made with braces: this is written on every answer.
  FieldText() noexcept {}  // NOLINT(modernize-use-equals-default)

  // Holds as long as this does: of a temporary, to the end of the expression.
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
    const std::uint64_t held = std::min(number, largest_field_integer);
    if (capacity - size_ < text::digits_of(held)) return;
    size_ = static_cast<std::size_t>(text::put_number(text_.data() + size_, held) - text_.data());
  }

 private:
  std::array<char, capacity> text_;
  std::size_t size_ = 0;
};

// The limit that an answer speaks of, and how its consumer stands.
struct AnswerFields {
  std::string_view policy;  // its name
  std::uint64_t quota = 0;
  bool at_once = false;  // the quota is of requests that are held: nobody knows when one of them ends
  Duration window{};     // zero: not said
  std::uint64_t remaining = 0;
  std::optional<Duration> until_more = {};   // until `remaining` next grows; empty when it is full, or not known
  Duration reset_after{};                    // until it is full; of `at_once`, not said
  std::optional<Duration> retry_after = {};  // of a denial; empty when admitted, and when waiting does not help
};

// X-RateLimit-Reset as seconds from now, or as seconds since the epoch.
enum class ResetForm : std::uint8_t { delta, epoch };

// Their values. No name is longer than max_policy_name, and bytes that a Structured Field String cannot hold are
// percent-encoded.
inline constexpr std::size_t max_policy_name = 128;

// "default";q=100;w=60 and "default";r=50;t=30; "running";q=5;qu="concurrent-requests" and "running";r=2: the first
// number as count_field wrote it, since others tell it too.
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

// Never earlier than `t`, which a client would take if this were not there.
[[nodiscard]] FieldText retry_after_field(Duration retry_after, std::optional<Duration> until_more) noexcept;

// Calls send(name, value) for each field of the answer, both as std::string_view; the value holds for the call.
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
    if (!answer.at_once) send(names[2], reset_field(answer.reset_after, form, now).view());
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
