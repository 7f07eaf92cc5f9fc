// The descriptors of one request judged together, all or nothing. Shadow limits are asked when the verdict is final,
// and charged iff it admits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/descriptors.h"
#include "engine/plan.h"
#include "engine/verdict.h"
#include "table/together.h"
#include "weir/time.h"

namespace weir::engine {

class DescriptorJudgement {
  // What is asked for one descriptor.
  struct Part {
    const policy::Descriptor* descriptor;
    table::Table* table;     // null: nothing to ask
    const core::Rule* rule;  // of the plan, or the one below
    core::Rule of_override;
    table::Ask ask;
    std::uint32_t limit;
    bool shadow;
  };

 public:
  // Space to work in, kept from one request to the next: to clear it for each would cost more than to judge.
  class Room {
    friend class DescriptorJudgement;

    std::array<Part, table::most_together> parts_;
    std::array<table::Check, table::most_together> checks_;
    std::array<std::size_t, table::most_together> owners_;  // whose checks they are
    std::array<Decision, table::most_together> decisions_;
    std::string key_;
  };

  // At most `table::most_together` descriptors; `statuses` has their number.
  DescriptorJudgement(const Plan& plan, const policy::Domain& domain, std::span<const DescriptorAsk> asks,
                      std::span<DescriptorStatus> statuses, Room& room) noexcept
      : plan_(plan), domain_(domain), asks_(asks), statuses_(statuses), room_(room), parts_(room.parts_) {}

  [[nodiscard]] bool pass(Instant now);

  // The configured limit that a descriptor was judged by; Verdict::no_limit if there was none.
  [[nodiscard]] std::uint32_t limit_of(std::size_t i) const noexcept { return parts_[i].limit; }

 private:
  void match(std::size_t i);
  void match_override(std::size_t i, const WindowNumbers& numbers);
  void match_configured(std::size_t i);
  void drop_replaced() noexcept;
  [[nodiscard]] bool judge_live(Instant now) noexcept;

  const Plan& plan_;
  const policy::Domain& domain_;
  std::span<const DescriptorAsk> asks_;
  std::span<DescriptorStatus> statuses_;
  Room& room_;
  const std::span<Part> parts_;  // of the room
};

}  // namespace weir::engine
