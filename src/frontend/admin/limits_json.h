// The limits of the policy in force with what they do, as JSON. The form is in docs/decisions/0020.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "frontend/admin/reports.h"
#include "policy/ruleset.h"

namespace weir::frontend {

inline constexpr std::size_t most_limits_told = 1'000;

[[nodiscard]] std::string limits_json(const policy::Ruleset& ruleset, const LimitsReport& report);

// One of the ruleset's.
[[nodiscard]] std::string limit_json(const policy::Ruleset& ruleset, const policy::CompiledLimit& limit,
                                     const LimitsReport& report);

}  // namespace weir::frontend
