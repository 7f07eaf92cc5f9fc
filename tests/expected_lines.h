// Test files whose first lines state the expected messages: one mistake per file, or none.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

using Lines = std::vector<std::string>;
using Files = std::vector<std::filesystem::path>;

// Returns the files in the order of their names.
inline Files files_of(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The comments at the top: `# expect: LINE:COLUMN: message`.
inline Lines expected_in(const std::filesystem::path& path) {
  constexpr std::string_view prefix = "# expect: ";
  std::ifstream file(path);
  Lines expected;
  for (std::string line; std::getline(file, line) && line.starts_with(prefix);) {
    expected.push_back(line.substr(prefix.size()));
  }
  return expected;
}

}  // namespace weir
