// Validates the fields of a request described in JSON: POST /v1/check, /v1/report and /v1/explain.
//
// A value that would silently exempt the request from its limits is an error that names the field. An empty string is a
// missing value. Values forwarded by a proxy are not rejected: see match/caller.h.
#pragma once

#include <string_view>

#include "weir/result.h"

namespace weir::frontend {

// The path before a `?` or `#` must not be empty.
[[nodiscard]] Result<void> validate_path(std::string_view path);

// Accepts an address with or without port and brackets, and an empty text.
[[nodiscard]] Result<void> validate_address(std::string_view address);

}  // namespace weir::frontend
