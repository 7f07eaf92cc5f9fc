// Reads and writes files. Writes are atomic.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::app {

// Reads a file, but at most `most` + 1 bytes: the extra byte shows that it is too long.
Result<std::string> read_file(const std::string& path, std::size_t most);

enum class Existing { rejected, replaced };

// Writes a temporary file next to `path` and renames it. With `rejected`, an existing file is an error.
Result<void> write_file(const std::string& path, std::string_view text, Existing existing);

}  // namespace weir::app
