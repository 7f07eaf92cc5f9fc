// A verdict as a client is told of it, alike in every protocol: on a query, and on the descriptors of one request.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/evaluation_batch.h"
#include "engine/verdict.h"
#include "frontend/loop_context.h"
#include "match/descriptors.h"
#include "policy/ruleset.h"
#include "wire/fields/answer_fields.h"

namespace weir::frontend {

// 200; 429; 403 where waiting never helps.
[[nodiscard]] unsigned status_of(const engine::Verdict& verdict) noexcept;

// The name of the limit that decided; empty if none did.
[[nodiscard]] std::string_view limit_name(const policy::Ruleset& ruleset, const engine::Verdict& verdict) noexcept;

// What a request lacks that is denied for it: `user or api_key`. Only where the reason is a missing key.
[[nodiscard]] std::string missing_identity(const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// What the header fields say; none if no limit has a part in the verdict, or its numbers say nothing. `t` of RateLimit
// is known only if the query asked for `more_after`.
[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const policy::Ruleset& ruleset,
                                                              const engine::Verdict& verdict);

// What came of a receipt, of a report, or of what is done with it: `done`, `ended`, `unanswered`.
[[nodiscard]] std::string_view name_of(core::ReceiptResult result) noexcept;

// A denial as problem details (wire/problem.h).
void append_denial(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// What is decided on the descriptors of one request. Views of the batch that it is of.
struct DescriptorVerdict {
  // Of the request with this number in a batch that is done.
  DescriptorVerdict(const engine::EvaluationBatch& batch, std::size_t i) noexcept
      : domain(batch.domain(i)),
        statuses(batch.statuses(i)),
        admitted(batch.verdict(i).admitted),
        at(batch.verdict(i).at) {}

  std::string_view domain;
  std::span<const engine::DescriptorStatus> statuses;  // one for each descriptor
  bool admitted;
  Instant at;

  // The status that the fields and the body speak of: admitted, the one with the least left relative to its size;
  // denied, the denying one with the longest wait. Null if no limit has a part in it.
  [[nodiscard]] const engine::DescriptorStatus* tightest() const noexcept;
};

[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const DescriptorVerdict& verdict);
void append_denial(std::string& out, const DescriptorVerdict& verdict);

// The metadata of descriptors in an answer, as envoyproxy/ratelimit has it: under `metadata`, that of all limited
// descriptors that passed; where two name the same the first counts, and maps are merged.
[[nodiscard]] bool has_metadata(const DescriptorVerdict& verdict) noexcept;
// Appends the fields of a google.protobuf.Struct.
void append_metadata_struct(std::string& out, const DescriptorVerdict& verdict);
// Appends the same as a JSON object.
void append_metadata_json(std::string& out, const DescriptorVerdict& verdict);

// On an answer that would have been a denial, if its limit did not let the first few pass (`warn_first`).
inline constexpr std::string_view warning_field = "X-RateLimit-Warning";

// Calls send(name, value) for each header field of an answer, Retry-After with its jitter among them.
template <class Send>
void for_each_field(LoopContext& context, std::optional<wire::AnswerFields> answer, Instant at, Send&& send) {
  if (!answer) return;
  if (answer->retry_after) *answer->retry_after += context.jitter();
  wire::for_each_field(*answer, context.settings().fields, at, send);
}
template <class Send>
void for_each_field(LoopContext& context, const policy::Ruleset& ruleset, const engine::Verdict& verdict, Send&& send) {
  const auto answer = answer_fields(ruleset, verdict);
  for_each_field(context, answer, verdict.at, send);
  if (answer && verdict.reason == engine::Reason::warned) send(warning_field, answer->policy);
}
template <class Send>
void for_each_field(LoopContext& context, const DescriptorVerdict& verdict, Send&& send) {
  for_each_field(context, answer_fields(verdict), verdict.at, send);
}

}  // namespace weir::frontend
