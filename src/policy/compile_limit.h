// LimitSpec -> CompiledLimit.
#pragma once

#include <optional>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// None if there is an error; `problems` says which, in the words of a file whose root has these names.
[[nodiscard]] std::optional<CompiledLimit> compile_limit(const LimitSpec& spec, const Tiers& tiers,
                                                         const RootNames& names, Problems& problems);

}  // namespace weir::policy
