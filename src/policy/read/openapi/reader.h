// Reads the x-rate-limit extensions of an OpenAPI 3.0 or 3.1 document.
//
// - x-rate-limit, one limit or a list, is attached to an operation, to a path item (for its operations) or to the root
//   (for every operation of the document, and for no other request). All limits that cover an operation apply together.
// - The default name of a limit is the operationId, else `METHOD /path`; on a path item the path; at the root `root`.
//   In a list, an unnamed second entry is `name#2`, and so on by position.
// - Routes are the operation's path below each base path of its servers; `routes` is not allowed. The routes in
//   `cost` are paths of the document, to which the base paths are added too.
// - Several `$ref`s may refer to one limit. If its name is the same for all of them, it is one limit that covers them
//   all; otherwise each reference is a separate limit.
#pragma once

#include <optional>

#include "policy/limit_fields.h"
#include "policy/spec.h"
#include "text/yaml/document.h"

namespace weir::policy::openapi {

// Returns nothing unless the document is_supported(). Leaves out invalid limits, so that compile() can still check the
// others.
[[nodiscard]] std::optional<PolicySpec> read(const text::Node& root, Problems& problems,
                                             LimitFields fields = limit_fields());

}  // namespace weir::policy::openapi
