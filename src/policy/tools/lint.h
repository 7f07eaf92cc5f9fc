// Warnings about a valid policy that probably does not do what its author meant. Each states the effect and the remedy;
// there is no warning that no change of the file could resolve. rules.h names the rules, docs/reference-lint.md
// describes them, and allow.h silences them.
//
// - A write route names POST, PUT, PATCH or DELETE, or covers a route of the policy that does. Limits on every request
//   and routes without a method are not write routes: the rule would warn about most policies.
// - A key that clients can make up causes no warning where anonymous callers are counted by ip on the same routes.
#pragma once

#include <cstdint>

#include "policy/ruleset.h"
#include "policy/spec.h"
#include "text/yaml/problem.h"

namespace weir::policy {

// `ruleset` must be the result of compile(spec). `nodes` share the store.
void lint(const PolicySpec& spec, const Ruleset& ruleset, std::uint64_t nodes, Problems& problems);

}  // namespace weir::policy
