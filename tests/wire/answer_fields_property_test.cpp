// Fields of an answer parse to the original values, and waits are never shortened.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "text/date.h"
#include "wire/fields/answer_fields.h"
#include "wire/fields/delta_seconds.h"
#include "wire/fields/rate_limit.h"

namespace weir::wire {
namespace {

using std::chrono::ceil;
using std::chrono::seconds;

Duration any_duration() {
  const auto longest = *rc::gen::element<std::int64_t>(10, 5'000'000, 100'000'000'000, 1'000'000'000'000'000'000);
  return Duration{*rc::gen::inRange<std::int64_t>(0, longest)};
}

Duration as_read(Duration duration) {
  return std::min<Duration>(ceil<seconds>(duration), max_wait);
}

// Unescapes a String of a field.
std::string unescaped(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    name += text[i];
  }
  return name;
}

bool is_plain(const std::string& name) {
  return name.size() <= max_policy_name && std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
}

RC_GTEST_PROP(AnswerFieldsProperty, EveryAnswerRoundTrips, (std::uint64_t quota, std::uint64_t remaining)) {
  const std::string name =
      *rc::gen::oneOf(rc::gen::arbitrary<std::string>(), rc::gen::container<std::string>(rc::gen::arbitrary<char>()),
                      rc::gen::container<std::string>(200, rc::gen::element('a', '"', '\\', '\xC3')));
  const AnswerFields answer{.policy = name,
                            .quota = quota,
                            .is_concurrency = *rc::gen::arbitrary<bool>(),
                            .window = any_duration(),
                            .remaining = remaining,
                            .until_more = *rc::gen::arbitrary<bool>() ? std::optional{any_duration()} : std::nullopt};

  const FieldText limit_field = rate_limit_field(answer);  // the parsed texts are views into it
  const auto limits = parse_rate_limit(limit_field.view());
  RC_ASSERT(limits.has_value());
  RC_ASSERT(limits->size() == 1U);
  const RateLimit& limit = limits->front();
  RC_ASSERT(limit.remaining == std::min(remaining, max_field_integer));
  RC_ASSERT(limit.more_after.has_value() == answer.until_more.has_value());
  if (answer.until_more) RC_ASSERT(*limit.more_after == as_read(*answer.until_more));

  const FieldText policy_field = rate_limit_policy_field(answer);
  const auto policies = parse_rate_limit_policy(policy_field.view());
  RC_ASSERT(policies.has_value());
  RC_ASSERT(policies->size() == 1U);
  const RateLimitPolicy& policy = policies->front();
  RC_ASSERT(policy.quota == std::min(quota, max_field_integer));
  RC_ASSERT(policy.unit == (answer.is_concurrency ? QuotaUnit::concurrent_requests : QuotaUnit::requests));
  RC_ASSERT(policy.window.has_value() == (answer.window > Duration::zero()));
  if (policy.window) RC_ASSERT(*policy.window == as_read(answer.window));

  RC_ASSERT(policy.name == limit.name);
  if (is_plain(name)) RC_ASSERT(unescaped(policy.name) == name);
}

RC_GTEST_PROP(AnswerFieldsProperty, RetryAfterIsNeverTooEarly, ()) {
  const Duration wait = any_duration();
  const auto more = *rc::gen::arbitrary<bool>() ? std::optional{any_duration()} : std::nullopt;
  const auto parsed = parse_retry_after(retry_after_field(wait, more).view(), Instant{});
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == as_read(std::max(wait, more.value_or(Duration::zero()))));
}

RC_GTEST_PROP(AnswerFieldsProperty, EverySecondRoundTripsAsADate, ()) {
  const auto first = std::chrono::sys_days{std::chrono::year{0} / 1 / 1}.time_since_epoch() / seconds{1};
  const auto end = std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}.time_since_epoch() / seconds{1};
  const Instant second{seconds{*rc::gen::inRange<std::int64_t>(first, end)}};
  const text::HttpDate date = text::http_date(second + Duration{*rc::gen::inRange(0, 1'000'000)});
  RC_ASSERT(text::parse_http_date({date.data(), date.size()}, Instant{}) == second);
}

}  // namespace
}  // namespace weir::wire
