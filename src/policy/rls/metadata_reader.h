// `metadata` of a descriptor: what it holds is for others, so that every value is taken as YAML means it.
#pragma once

#include "policy/metadata.h"
#include "policy/yaml/document.h"

namespace weir::policy::rls {

// Without quotes, 20 and 2.5 are numbers, true, yes and on are true. What is no finite number is text.
[[nodiscard]] MetadataValue read_metadata(const yaml::Node& node);

}  // namespace weir::policy::rls
