// Checks the fields of a request that a program describes: POST /v1/check, /v1/report and /v1/explain.
//
// A value that would take the request out of its limits without a word is an error that names the field. Empty texts
// are missing values. Values that come from a proxy's client are decided instead: match/caller.h.
#pragma once

#include <string_view>

#include "weir/result.h"

namespace weir::frontend {

// Not empty, before a `?` or `#`.
[[nodiscard]] Result<void> check_path(std::string_view path);

// An address, with a port or in brackets or without; or empty: missing.
[[nodiscard]] Result<void> check_address(std::string_view address);

}  // namespace weir::frontend
