// A secret in a file, for those who may use a door. What everybody on the machine can read is not a secret: refused.
#pragma once

#include <filesystem>
#include <string>

#include "weir/result.h"

namespace weir::server {

// The token, without the end of its line.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& path);

}  // namespace weir::server
