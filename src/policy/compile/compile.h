// Compiles a PolicySpec to a Ruleset, and reports the errors that involve more than one value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "policy/limit_fields.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// Returns null after an error.
[[nodiscard]] std::shared_ptr<const Ruleset> compile(const PolicySpec& spec, Problems& problems,
                                                     LimitFields fields = limit_fields());

// Returns nothing after an error. `tiers` are those of `policy`, compiled. Defined in compile_limit.cpp.
[[nodiscard]] std::optional<CompiledLimit> compile_limit(const LimitSpec& spec, const PolicySpec& policy,
                                                         const Tiers& tiers, LimitFields fields, Problems& problems);

// Returns the SHA-256 in hex. Defined in digest.cpp.
[[nodiscard]] std::string sha256(std::string_view bytes);

// Returns the SHA-256, in hex, of the policy's meaning: it does not depend on spelling, positions or irrelevant order.
// Defined in digest.cpp.
[[nodiscard]] std::string digest(const Ruleset& ruleset, LimitFields fields = limit_fields());

}  // namespace weir::policy
