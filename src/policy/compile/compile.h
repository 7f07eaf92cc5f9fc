// PolicySpec -> Ruleset: everything that takes more than one value to be wrong.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "policy/limit_fields.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// None if there is an error; `problems` says which.
[[nodiscard]] std::shared_ptr<const Ruleset> compile(const PolicySpec& spec, Problems& problems,
                                                     LimitFields fields = limit_fields());

// compile_limit.cpp. None if there is an error; `problems` says which, in the words of a file whose root has these
// names.
[[nodiscard]] std::optional<CompiledLimit> compile_limit(const LimitSpec& spec, const Tiers& tiers,
                                                         const RootNames& names, LimitFields fields,
                                                         Problems& problems);

// digest.cpp. In hex.
[[nodiscard]] std::string sha256(std::string_view bytes);

// digest.cpp. SHA-256 in hex of the meaning: not of the text, its order where order means nothing, its spelling or its
// places.
[[nodiscard]] std::string digest(const Ruleset& ruleset, LimitFields fields = limit_fields());

}  // namespace weir::policy
