// The descriptors of one request judged, and what its client is told: alike at every door that takes descriptors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "door/desk.h"
#include "engine/descriptors.h"
#include "wire/fields/answer_fields.h"

namespace weir::door {

// Short-lived, as a Ruling is.
struct DescriptorRuling {
  engine::Judge::Hold hold;
  std::string_view domain;
  std::span<const engine::DescriptorStatus> statuses;  // one for each descriptor
  bool admitted = true;
  Instant now;

  // The status that the fields and the body speak of: admitted, the one with the least left relative to its size;
  // denied, the denying one with the longest wait. Null if no limit has a part in it.
  [[nodiscard]] const engine::DescriptorStatus* tightest() const noexcept;
};

// All or nothing. `statuses` is room for as many as `asks`, at most table::most_together. An override of nothing per
// unit denies, and then nobody is charged.
[[nodiscard]] DescriptorRuling judge_descriptors(Desk& desk, std::string_view domain,
                                                 std::span<engine::DescriptorAsk> asks,
                                                 std::span<engine::DescriptorStatus> statuses, Instant now);

// What the limit of a status is called: its name, or if it has none its domain's.
[[nodiscard]] std::string_view limit_name(const DescriptorRuling& ruling,
                                          const engine::DescriptorStatus& status) noexcept;

[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const DescriptorRuling& ruling);

// A denial as problem details (wire/problem.h).
void append_denial(std::string& out, const DescriptorRuling& ruling);

}  // namespace weir::door
