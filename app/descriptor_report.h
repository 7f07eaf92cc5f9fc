// What a policy says about one descriptor, for a person and for a program.
#pragma once

#include <span>
#include <string>

#include "engine/descriptor_name.h"
#include "policy/ruleset.h"

namespace weir::app {

struct ExplainedDescriptor {
  const policy::Ruleset& ruleset;
  engine::DescriptorName name;
  const policy::Descriptor* found;  // null: no limit covers it
  std::string why_not;              // then
};

[[nodiscard]] std::string descriptor_text(const ExplainedDescriptor& explained);

// {"domain", "descriptor": [{"key", "value"}...], "covered", "limit", "numbers", "algorithm", "unlimited", "shadow",
//  "why_not"}; what does not apply is null.
[[nodiscard]] std::string descriptor_json(const ExplainedDescriptor& explained);

}  // namespace weir::app
