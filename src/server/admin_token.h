// The secret that whoever changes state has to show: in the state directory, made at the first start.
#pragma once

#include <filesystem>
#include <string>

#include "weir/result.h"

namespace weir::server {

inline constexpr auto admin_token_file = "admin.token";

// Whether secrets can be kept there; the directory is made (0700) if it is not there. What is in it already is not
// read.
[[nodiscard]] Result<void> prepare_state_directory(const std::filesystem::path& state_directory);

// 64 hexadecimal digits, for the owner's eyes only (0600). The directory is made too (0700) if it is not there.
[[nodiscard]] Result<std::string> open_admin_token(const std::filesystem::path& state_directory);

}  // namespace weir::server
