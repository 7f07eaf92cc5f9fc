// The descriptors of one request judged together, all or nothing. Shadow limits are asked when the verdict is final,
// and charged iff it admits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/descriptor_parts.h"
#include "engine/descriptors.h"
#include "engine/plan.h"
#include "table/together.h"
#include "weir/time.h"

namespace weir::engine {

class DescriptorJudgement {
 public:
  // Space to work in, kept from one request to the next.
  class Room {
    friend class DescriptorJudgement;

    DescriptorParts parts_;
    std::array<table::Check, table::most_together> checks_;
    std::array<std::size_t, table::most_together> owners_;  // whose checks they are
    std::array<Decision, table::most_together> decisions_;
  };

  // At most `table::most_together` descriptors; `statuses` has their number.
  DescriptorJudgement(const Plan& plan, const policy::Domain& domain, std::span<const DescriptorAsk> asks,
                      std::span<DescriptorStatus> statuses, Room& room) noexcept
      : plan_(plan), domain_(domain), asks_(asks), statuses_(statuses), room_(room) {}

  [[nodiscard]] bool pass(Instant now);

  // The configured limit that a descriptor was judged by; Verdict::no_limit if there was none.
  [[nodiscard]] std::uint32_t limit_of(std::size_t i) const noexcept { return room_.parts_[i].limit; }

 private:
  [[nodiscard]] bool judge_live(Instant now) noexcept;

  const Plan& plan_;
  const policy::Domain& domain_;
  std::span<const DescriptorAsk> asks_;
  std::span<DescriptorStatus> statuses_;
  Room& room_;
};

}  // namespace weir::engine
