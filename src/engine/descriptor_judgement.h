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
 public:
  // `key` is scratch. At most `table::most_together` descriptors; `statuses` has their number.
  DescriptorJudgement(const Plan& plan, const policy::Domain& domain, std::span<const DescriptorAsk> asks,
                      std::span<DescriptorStatus> statuses, std::string& key) noexcept
      : plan_(plan), domain_(domain), asks_(asks), statuses_(statuses), key_(key) {}

  [[nodiscard]] bool pass(Instant now);

  // The configured limit that a descriptor was judged by; Verdict::no_limit if there was none.
  [[nodiscard]] std::uint32_t limit_of(std::size_t i) const noexcept { return parts_[i].limit; }

 private:
  struct Part {
    const policy::Descriptor* descriptor = nullptr;
    table::Table* table = nullptr;  // null: nothing to ask
    core::Rule rule;
    table::Ask ask;
    std::uint32_t limit = Verdict::no_limit;
    bool shadow = false;
  };

  void match(std::size_t i);
  void match_override(std::size_t i, const WindowNumbers& numbers);
  void match_configured(std::size_t i);
  void drop_replaced() noexcept;
  [[nodiscard]] bool judge_live(Instant now) noexcept;

  const Plan& plan_;
  const policy::Domain& domain_;
  std::span<const DescriptorAsk> asks_;
  std::span<DescriptorStatus> statuses_;
  std::string& key_;
  std::array<Part, table::most_together> parts_;
};

}  // namespace weir::engine
