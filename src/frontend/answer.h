// A verdict as a client is told of it, by a loop of the server: what answer/answer.h says, with the settings of the
// loop.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "answer/answer.h"
#include "core/receipts.h"
#include "frontend/loop_context.h"
#include "wire/fields/answer_fields.h"

namespace weir::frontend {

using answer::answer_fields;
using answer::append_denial;
using answer::DescriptorVerdict;
using answer::limit_name;
using answer::missing_identity;
using answer::status_of;

// What came of a receipt, of a report, or of what is done with it: `done`, `ended`, `unanswered`.
[[nodiscard]] std::string_view name_of(core::ReceiptResult result) noexcept;

// The metadata of descriptors in an answer, as envoyproxy/ratelimit has it: under `metadata`, that of all limited
// descriptors that passed; where two name the same the first counts, and maps are merged.
[[nodiscard]] bool has_metadata(const DescriptorVerdict& verdict) noexcept;
// Appends the fields of a google.protobuf.Struct.
void append_metadata_struct(std::string& out, const DescriptorVerdict& verdict);
// Appends the same as a JSON object.
void append_metadata_json(std::string& out, const DescriptorVerdict& verdict);

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
  if (answer && verdict.reason == engine::Reason::warned) send(answer::warning_field, answer->policy);
}
template <class Send>
void for_each_field(LoopContext& context, const DescriptorVerdict& verdict, Send&& send) {
  for_each_field(context, answer_fields(verdict), verdict.at, send);
}

}  // namespace weir::frontend
