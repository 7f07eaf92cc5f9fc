// Domains of envoyproxy/ratelimit -> trees of descriptors, and a limit for each that has one.
#pragma once

#include <vector>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy {

// Adds to the domains and limits of `ruleset`, whose tiers are there already.
void compile_domains(const std::vector<DomainSpec>& domains, Ruleset& ruleset, Problems& problems);

}  // namespace weir::policy
