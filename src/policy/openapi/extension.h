// Where x-rate-limit and its relatives may stand. A name that is nearly right would be ignored by everybody, and the
// operation left without its limit: it is an error.
#pragma once

#include <string_view>

#include "policy/problem.h"
#include "policy/yaml/document.h"

namespace weir::policy::openapi {

inline constexpr std::string_view limit_field = "x-rate-limit";
inline constexpr std::string_view identity_field = "x-rate-limit-identity";
inline constexpr std::string_view tiers_field = "x-rate-limit-tiers";

enum class Level { root, path_item, operation, elsewhere };

// Refuses, among the fields of `map`, names that are nearly one of ours, and ours where they have no effect.
void check_extensions(const yaml::Node& map, Level level, Problems& problems);

// The places of the document that one might take for one of the three levels: `paths` itself, `info`, `components`,
// webhooks.
void check_misplaced(const yaml::Node& root, Problems& problems);

}  // namespace weir::policy::openapi
