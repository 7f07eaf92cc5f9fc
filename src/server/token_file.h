// A secret in a file: a token, for those who may use a door, or a password of our own. What everybody on the machine
// can read is not a secret: refused.
#pragma once

#include <filesystem>
#include <string>

#include "weir/result.h"

namespace weir::server {

// The token, without the end of its line.
[[nodiscard]] Result<std::string> read_token(const std::filesystem::path& path);

// The password that another server knows us by, without the end of its line. Whoever chose it had his own rules.
[[nodiscard]] Result<std::string> read_password(const std::filesystem::path& path);

}  // namespace weir::server
