// What a client is told of a verdict, alike in every protocol and in a program that embeds the engine: the status, the
// header fields, and the body of a denial. Of a query, and of the descriptors of one request. Pure; callable from any
// thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/receipts.h"
#include "engine/evaluation_batch.h"
#include "engine/verdict.h"
#include "match/descriptors.h"
#include "policy/ruleset.h"
#include "weir/decision.h"
#include "weir/time.h"
#include "wire/fields/answer_fields.h"

namespace weir::answer {

// 200; 429; 403 where waiting never helps.
[[nodiscard]] unsigned status_of(const engine::Verdict& verdict) noexcept;

// The name of the limit that decided; empty if none did.
[[nodiscard]] std::string_view limit_name(const policy::Ruleset& ruleset, const engine::Verdict& verdict) noexcept;

// What a request lacks that is denied for it: `user or api_key`. Only where the reason is a missing key.
[[nodiscard]] std::string missing_identity(const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// The word for a receipt's or a report's result: `done`, `ended`, `unanswered`.
[[nodiscard]] std::string_view name_of(core::ReceiptResult result) noexcept;

// What the header fields say; none if no limit has a part in the verdict, or its numbers say nothing. `t` of RateLimit
// is known only if the query asked for `more_after`.
[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const policy::Ruleset& ruleset,
                                                              const engine::Verdict& verdict);

// What the body of a denial says. Views only.
struct Denial {
  engine::Reason reason;
  std::span<const std::string_view> limits;  // that deny, the one that the numbers are of first
  const Decision& decision;
  std::optional<Duration> retry_after;
  Instant at;
  std::string_view missing{};  // as missing_identity() has it, where that is the reason
};

// As problem details (problem.h).
void append_denial(std::string& out, const Denial& denial);
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

  // What the limit of one of its statuses is called: its name, or if it has none its domain's.
  [[nodiscard]] std::string_view limit_name(const engine::DescriptorStatus& status) const noexcept;
};

// Why descriptors are denied whose tightest status this is.
[[nodiscard]] engine::Reason reason_of(const engine::DescriptorStatus& tightest) noexcept;

[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const DescriptorVerdict& verdict);
void append_denial(std::string& out, const DescriptorVerdict& verdict);

// The metadata of descriptors, as envoyproxy/ratelimit returns it: under `metadata`, that of all limited descriptors
// that passed. Maps are merged; of two values with the same name the first is kept.
[[nodiscard]] bool has_metadata(const DescriptorVerdict& verdict) noexcept;
// Appends the fields of a google.protobuf.Struct.
void append_metadata_struct(std::string& out, const DescriptorVerdict& verdict);
// Appends the same as a JSON object.
void append_metadata_json(std::string& out, const DescriptorVerdict& verdict);

// On an answer that would have been a denial, if its limit did not let the first few pass (`warn_first`).
inline constexpr std::string_view warning_field = "X-RateLimit-Warning";

}  // namespace weir::answer
