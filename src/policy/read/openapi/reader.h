// OpenAPI 3.0 and 3.1 with x-rate-limit -> PolicySpec.
//
// - x-rate-limit, one limit or a list, stands on an operation, on a path item (its operations) or at the root (every
//   operation of the document, and not what it does not describe). All that cover an operation hold together.
// - A limit's name is its own, else the operationId, else `METHOD /path`; on a path item the path, at the root `root`.
//   Of a list, the second entry without a name of its own is `name#2`, and so on by position.
// - Routes are the operation's path below each base path of its servers; `routes` cannot be written. The routes in
//   `cost` are paths of the document, to which the base paths are added too.
// - What `$ref` names may be reached from several places. If it has the same name in all of them (its own, or an
//   operationId that came with it) it is one limit that covers them all, else each place has one of its own.
#pragma once

#include <optional>

#include "policy/limit_fields.h"
#include "policy/spec.h"
#include "text/yaml/document.h"

namespace weir::policy::openapi {

// None unless it is_supported(). Without the limits that are wrong by themselves: compile() can still find what is
// wrong between the others.
[[nodiscard]] std::optional<PolicySpec> read(const text::Node& root, Problems& problems,
                                             LimitFields fields = limit_fields());

}  // namespace weir::policy::openapi
