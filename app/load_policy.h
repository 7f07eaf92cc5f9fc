// Policies for the subcommands that need one that holds.
#pragma once

#include <memory>
#include <string>

#include "policy/load.h"
#include "policy/ruleset.h"

namespace weir::app {

// None if there is a mistake in it; then all of them were said on the standard error. Warnings are for weir lint.
[[nodiscard]] std::shared_ptr<const policy::Ruleset> load_policy(const std::string& path,
                                                                 policy::LoadOptions load = {});

// Ends a command that failed: says why on the standard error, and gives the exit code.
[[nodiscard]] int give_up(const std::string& why);

}  // namespace weir::app
