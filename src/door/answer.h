// A verdict as a client is told of it, alike at every door.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "door/desk.h"
#include "engine/verdict.h"
#include "wire/fields/answer_fields.h"

namespace weir::door {

// What the header fields say; none if no limit has a part in the verdict, or its numbers say nothing.
[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const Ruling& ruling, const engine::Verdict& verdict);

// 200; 429; 403 where waiting never helps.
[[nodiscard]] unsigned status_of(const engine::Verdict& verdict) noexcept;

// The name of the limit that decided; empty if none did.
[[nodiscard]] std::string_view limit_name(const Ruling& ruling, const engine::Verdict& verdict) noexcept;

// What a request lacks that is denied for it: `user or api_key`. Only where the reason is a missing key.
[[nodiscard]] std::string missing_identity(const Ruling& ruling, const engine::Verdict& verdict);

// A denial as problem details (wire/problem.h).
void append_denial(std::string& out, const Ruling& ruling, const engine::Verdict& verdict);

// What people are told of a ban.
inline constexpr std::string_view banned_sentence = "Its limit lets nothing of this kind through.";

// On an answer that would have been a denial, if its limit did not let the first few pass (`warn_first`).
inline constexpr std::string_view warning_field = "X-RateLimit-Warning";

// Calls send(name, value) for each header field of an answer, Retry-After with its jitter among them.
template <class Send>
void for_each_field(Desk& desk, const Ruling& ruling, const engine::Verdict& verdict, Send&& send) {
  std::optional<wire::AnswerFields> answer = answer_fields(ruling, verdict);
  if (!answer) return;
  if (answer->retry_after) *answer->retry_after += desk.jitter();
  wire::for_each_field(*answer, desk.settings().fields, verdict.at, send);
  if (verdict.reason == engine::Reason::warned) send(warning_field, answer->policy);
}

}  // namespace weir::door
