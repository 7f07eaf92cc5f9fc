// The text of a file that yaml::parse is to read.
#pragma once

#include <filesystem>
#include <string>

#include "weir/result.h"

namespace weir::policy {

// Of a file that is too large, one byte beyond what is allowed: enough for the parser to refuse it.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

}  // namespace weir::policy
