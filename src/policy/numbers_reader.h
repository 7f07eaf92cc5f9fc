// The numbers of a limit, and what has numbers of its own: tier overrides and candidates.
#pragma once

#include <string_view>
#include <vector>

#include "policy/map_reader.h"
#include "policy/spec.h"

namespace weir::policy {

// `rate`, `burst` and their other spellings, out of a map that may hold more.
[[nodiscard]] NumbersSpec read_numbers(MapReader& map);

// The map under `tier_overrides`.
[[nodiscard]] std::vector<TierOverrideSpec> read_tier_overrides(const yaml::Node& node, Problems& problems);

[[nodiscard]] CandidateSpec read_candidate(const yaml::Node& node, Problems& problems);

[[nodiscard]] std::optional<Written<PolicyAlgorithm>> read_algorithm(MapReader& map);

}  // namespace weir::policy
