// The descriptors of one request judged, and what its client is told: alike at every door that takes descriptors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "door/desk.h"
#include "engine/descriptors.h"
#include "engine/hearing.h"
#include "wire/fields/answer_fields.h"

namespace weir::door {

// The descriptors of one request, as they were sent: at most table::most_together.
struct DescriptorQuestion {
  std::string_view domain;
  std::span<const engine::DescriptorAsk> asks;
};

// Short-lived, as a Ruling is.
struct DescriptorRuling {
  engine::Judge::Hold hold;  // of a hearing, and of one in a batch: none
  std::string_view domain;
  std::span<const engine::DescriptorStatus> statuses;  // one for each descriptor
  bool admitted = true;
  Instant now;

  // The status that the fields and the body speak of: admitted, the one with the least left relative to its size;
  // denied, the denying one with the longest wait. Null if no limit has a part in it.
  [[nodiscard]] const engine::DescriptorStatus* tightest() const noexcept;
};

// All or nothing. `room` is for as many statuses as there are descriptors.
[[nodiscard]] DescriptorRuling judge_descriptors(Desk& desk, const DescriptorQuestion& question, Instant now,
                                                 std::span<engine::DescriptorStatus> room);

// Those of several requests as one batch: add them all, judge, and read the rulings under the judge's hold. What the
// questions view stays until then. Meant to be used again.
class DescriptorRulings {
 public:
  void clear() noexcept { cases_.clear(); }
  void add(const DescriptorQuestion& question);
  void judge(Desk& desk, Instant now);

  // On the question that was added with this number.
  [[nodiscard]] DescriptorRuling ruling(std::size_t number) const;

 private:
  std::vector<engine::DescriptorCase> cases_;
  std::vector<engine::DescriptorStatus> statuses_;  // only grows
  Instant now_{};
};

// The same on a shared store: what the question views stays until it is over. Then the ruling on it, which has the
// number that it was added as.
void add_descriptors(engine::Hearing& hearing, const DescriptorQuestion& question);
[[nodiscard]] DescriptorRuling heard_descriptors(const engine::Hearing& hearing, std::size_t number,
                                                 std::string_view domain);

// What the limit of a status is called: its name, or if it has none its domain's.
[[nodiscard]] std::string_view limit_name(const DescriptorRuling& ruling,
                                          const engine::DescriptorStatus& status) noexcept;

[[nodiscard]] std::optional<wire::AnswerFields> answer_fields(const DescriptorRuling& ruling);

// A denial as problem details (wire/problem.h).
void append_denial(std::string& out, const DescriptorRuling& ruling);

}  // namespace weir::door
