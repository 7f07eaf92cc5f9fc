// Files that the program reads and writes. What it writes is there whole, or not at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::app {

// The bytes of a file, or of its first `most` bytes and one more.
Result<std::string> read_file(const std::string& path, std::size_t most);

enum class Existing { kept, replaced };

// Writes beside `path`, then puts it in place in one step. `kept`: an error if there is a file already.
Result<void> write_file(const std::string& path, std::string_view text, Existing existing);

}  // namespace weir::app
