#include "wire/fields/answer_fields.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/percent.h"
#include "wire/fields/delta_seconds.h"

namespace weir::wire {
namespace {

constexpr std::size_t max_integer_length = 15;
constexpr std::string_view unit_concurrency = ";qu=\"concurrent-requests\"";
// The longest field has the form "name";q=...;qu=...;w=...
static_assert(FieldText::capacity >= 2 + 2 * max_policy_name + 2 * (3 + max_integer_length) + unit_concurrency.size());

// Appends a Structured Field String: quoted, with `"` and `\` escaped.
void append_name(FieldText& text, std::string_view name) noexcept {
  std::size_t length = 0;
  text.append('"');
  for (const char c : name) {
    length += base::is_printable(c) ? 1U : 3U;
    if (length > max_policy_name) break;
    if (base::is_printable(c)) {
      if (c == '"' || c == '\\') text.append('\\');
      text.append(c);
    } else {
      const auto code = base::percent_encoded(c);
      text.append({code.data(), code.size()});
    }
  }
  text.append('"');
}

}  // namespace

FieldText rate_limit_policy_field(const AnswerFields& answer, std::string_view quota) noexcept {
  FieldText text;
  append_name(text, answer.policy);
  text.append(";q=");
  text.append(quota);
  if (answer.is_concurrency) text.append(unit_concurrency);
  if (answer.window > Duration::zero()) {
    text.append(";w=");
    text.append_integer(seconds_up(answer.window));
  }
  return text;
}

FieldText rate_limit_field(const AnswerFields& answer, std::string_view remaining) noexcept {
  FieldText text;
  append_name(text, answer.policy);
  text.append(";r=");
  text.append(remaining);
  if (answer.until_more) {
    text.append(";t=");
    text.append_integer(seconds_up(*answer.until_more));
  }
  return text;
}

FieldText reset_field(Duration reset_after, ResetForm form, Instant now) noexcept {
  return count_field(form == ResetForm::delta ? seconds_up(reset_after)
                                              : seconds_up(later(now, reset_after).time_since_epoch()));
}

FieldText count_field(std::uint64_t count) noexcept {
  FieldText text;
  text.append_integer(count);
  return text;
}

FieldText retry_after_field(Duration retry_after, std::optional<Duration> until_more) noexcept {
  return count_field(seconds_up(std::max(retry_after, until_more.value_or(Duration::zero()))));
}

}  // namespace weir::wire
