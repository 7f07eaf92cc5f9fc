// The client's view of a verdict on a query or on descriptors: the status, the header fields, and the body of a denial.
// It is the same in every protocol and in a program that embeds the engine. Pure functions; thread-safe.
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

// 200, 429, or 403 if waiting never helps.
[[nodiscard]] unsigned status_of(const engine::Verdict& verdict) noexcept;

// The name of the limit that decided; empty if none did.
[[nodiscard]] std::string_view limit_name(const policy::Ruleset& ruleset, const engine::Verdict& verdict) noexcept;

// The identity that the request lacks, such as `user or api_key`. Requires the reason key_missing.
[[nodiscard]] std::string missing_identity(const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// The API's name of a receipt's or a report's result: `done`, `ended`, `unanswered`.
[[nodiscard]] std::string_view name_of(core::ReceiptResult result) noexcept;

// Returns nothing if no limit took part in the verdict, or if the limit has no meaningful numbers. `t` of RateLimit is
// set only if the query asked for `more_after`.
[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const policy::Ruleset& ruleset,
                                                              const engine::Verdict& verdict);

// The content of a denial's body. Views only.
struct Denial {
  engine::Reason reason;
  std::span<const std::string_view> limits;  // those that deny; `decision` belongs to the first
  const Decision& decision;
  std::optional<Duration> retry_after;
  Instant at;
  std::string_view missing{};  // missing_identity(), if the reason is key_missing
};

// Appends problem details (problem.h).
void append_denial(std::string& out, const Denial& denial);
void append_denial(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict);

// The verdict on the descriptors of one request. Views into its batch.
struct DescriptorVerdict {
  // `i` is the index of the request in a finished batch.
  DescriptorVerdict(const engine::EvaluationBatch& batch, std::size_t i) noexcept
      : domain(batch.domain(i)),
        statuses(batch.statuses(i)),
        admitted(batch.verdict(i).admitted),
        at(batch.verdict(i).at) {}

  std::string_view domain;
  std::span<const engine::DescriptorStatus> statuses;  // one for each descriptor
  bool admitted;
  Instant at;

  // The status that the fields and the body report. If admitted, the one with the least remaining relative to its size;
  // if denied, the denying one with the longest wait. Null if no limit took part.
  [[nodiscard]] const engine::DescriptorStatus* tightest() const noexcept;

  // The name of the status's limit, or the domain's name if it has none.
  [[nodiscard]] std::string_view limit_name(const engine::DescriptorStatus& status) const noexcept;
};

// Returns the reason for a denial whose tightest status is this one.
[[nodiscard]] engine::Reason reason_of(const engine::DescriptorStatus& tightest) noexcept;

[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const DescriptorVerdict& verdict);
void append_denial(std::string& out, const DescriptorVerdict& verdict);

// Descriptor metadata as envoyproxy/ratelimit returns it: `metadata` merges the metadata of all limited descriptors
// that were admitted. Nested maps are merged; if two values have the same name, the first wins.
[[nodiscard]] bool has_metadata(const DescriptorVerdict& verdict) noexcept;
// Appends the fields of a google.protobuf.Struct.
void append_metadata_struct(std::string& out, const DescriptorVerdict& verdict);
// Appends the same as a JSON object.
void append_metadata_json(std::string& out, const DescriptorVerdict& verdict);

// Set on an answer that `warn_first` turned from a denial into a warning.
inline constexpr std::string_view warning_field = "X-RateLimit-Warning";

}  // namespace weir::answer
