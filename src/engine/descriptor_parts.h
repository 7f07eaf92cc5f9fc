// What is asked for the descriptors of one request: which limit each of them has, under which key. Charges nothing.
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

namespace weir::engine {

struct DescriptorPart {
  const policy::Descriptor* descriptor;
  table::Table* table;            // null: nothing to ask
  const core::Rule* rule;         // of the plan, or the one below
  const store::SharedName* name;  // on a shared store
  core::Rule of_override;
  table::Ask ask;
  std::uint32_t limit;  // Verdict::no_limit: none that is configured
  bool shadow;
  bool quota;            // over only together with all other quota descriptors of the request
  bool banned;           // nothing per unit: has no table, and is over for all but a look
  bool gives_back;       // charges nothing, and never denies
  std::string consumer;  // as a shared store calls it; empty where there is none
};

[[nodiscard]] inline bool is_live(const DescriptorPart& part) noexcept {
  return !part.shadow && !part.gives_back;
}

// Says what a descriptor with nothing per unit says.
void judge_banned(const DescriptorPart& part, DescriptorStatus& status) noexcept;

// Gives back what `status.decision`, a look at the state, says was used, at most the hits; and says what is left then.
// How much it is.
[[nodiscard]] Cost give_back(const DescriptorPart& part, DescriptorStatus& status) noexcept;

// Kept from one request to the next: to clear it for each would cost more than to judge.
class DescriptorParts {
 public:
  // At most `table::most_together` descriptors; `statuses` has their number, and is filled but for the decisions.
  void match(const Plan& plan, const policy::Domain& domain, std::span<const DescriptorAsk> asks,
             std::span<DescriptorStatus> statuses);

  [[nodiscard]] DescriptorPart& operator[](std::size_t i) noexcept { return parts_[i]; }
  [[nodiscard]] const DescriptorPart& operator[](std::size_t i) const noexcept { return parts_[i]; }

 private:
  void match_override(const Plan& plan, const policy::Domain& domain, const DescriptorAsk& ask, DescriptorPart& part,
                      DescriptorStatus& status);
  static void match_configured(const Plan& plan, DescriptorPart& part, DescriptorStatus& status);
  void drop_replaced(std::span<DescriptorStatus> statuses) noexcept;

  std::array<DescriptorPart, table::most_together> parts_;
  std::string key_;
};

}  // namespace weir::engine
