// Warnings: what is valid and yet hardly meant. Each says what happens and what to do in this file; what nothing in the
// file could change is no warning. rules.h has their names, docs/reference-lint.md when each is given, and allow.h how
// one is silenced.
//
// - Routes that are written to are those that name POST, PUT, PATCH or DELETE, or cover a route of the policy that
// does.
//   A limit on every request is a backstop, and a route without a method is mostly read: to warn of all these would be
//   to warn of most policies.
// - A key that a client makes up is fine where callers without a name are counted by ip on the same routes.
#pragma once

#include <cstdint>

#include "policy/ruleset.h"
#include "policy/spec.h"
#include "text/yaml/problem.h"

namespace weir::policy {

// `ruleset` is what compile() made of `spec`; `nodes` are those that share the store.
void lint(const PolicySpec& spec, const Ruleset& ruleset, std::uint64_t nodes, Problems& problems);

}  // namespace weir::policy
