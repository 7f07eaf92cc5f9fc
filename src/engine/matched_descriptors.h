// What is asked for the descriptors of one request: which limit each of them has, under which key. Charges nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/bindings.h"
#include "engine/verdict.h"
#include "match/descriptors.h"

namespace weir::engine {

struct MatchedDescriptor {
  const policy::Descriptor* descriptor;
  const store::States* states;  // null: nothing to ask
  const core::Rule* rule;       // of the states, or the one below
  core::Rule of_override;
  table::KeyHash hash;
  Cost hits;
  std::uint32_t limit;  // Verdict::no_limit: none that is configured
  bool shadow;
  bool quota;            // over only together with all other quota descriptors of the request
  bool banned;           // nothing per unit: has no table, and is over for all but a look
  bool gives_back;       // charges nothing, and never denies
  std::string consumer;  // as a shared store calls it; empty where there is none
};

// What a descriptor with nothing per unit says.
void decide_banned(const MatchedDescriptor& part, DescriptorStatus& status) noexcept;

// Kept from one request to the next: to clear it for each would cost more than to decide.
class MatchedDescriptors {
 public:
  // `statuses` has as many as there are asks, and is filled but for the decisions.
  void match(const Bindings& bindings, const policy::Domain& domain, std::span<const match::DescriptorQuery> asks,
             std::span<DescriptorStatus> statuses);

  [[nodiscard]] MatchedDescriptor& operator[](std::size_t i) noexcept { return parts_[i]; }
  [[nodiscard]] const MatchedDescriptor& operator[](std::size_t i) const noexcept { return parts_[i]; }

 private:
  void match_override(const Bindings& bindings, const policy::Domain& domain, const match::DescriptorQuery& ask,
                      MatchedDescriptor& part, DescriptorStatus& status);
  static void match_configured(const Bindings& bindings, MatchedDescriptor& part, DescriptorStatus& status);
  void drop_replaced(std::span<DescriptorStatus> statuses) noexcept;

  std::vector<MatchedDescriptor> parts_;
  std::string key_;
};

}  // namespace weir::engine
