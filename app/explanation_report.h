// Reports of weir explain about a request or a descriptor, as text and as JSON.
#pragma once

#include <string>

#include "app/server_config.h"
#include "app/terminal.h"
#include "match/descriptors.h"
#include "match/explain.h"
#include "policy/ruleset.h"
#include "weir/query.h"

namespace weir::app {

struct ExplainedQuery {
  const policy::Ruleset& ruleset;
  const Query& query;
  const match::Explanation& explanation;
  const NodeCount& nodes;
};

[[nodiscard]] std::string explanation_text(const ExplainedQuery& explained, const Paint& paint);

// {"request": {...}, "caller": {...}, "limits": [{"name", "covers", ...}...]}
[[nodiscard]] std::string explanation_json(const ExplainedQuery& explained);

struct ExplainedDescriptor {
  const policy::Ruleset& ruleset;
  match::DescriptorName name;
  const policy::Descriptor* found;  // null: no limit covers it
  std::string why_not;              // set if found is null
};

[[nodiscard]] std::string descriptor_text(const ExplainedDescriptor& explained);

// {"domain", "descriptor": [{"key", "value"}...], "covered", "limit", "numbers", "algorithm", "unlimited", "shadow",
//  "why_not"}; what does not apply is null.
[[nodiscard]] std::string descriptor_json(const ExplainedDescriptor& explained);

}  // namespace weir::app
