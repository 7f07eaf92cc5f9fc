// Loads files with one mistake each and the expected message: `# expect: LINE:COLUMN: message` in the first line, or
// for JSON, which has no comments, in NAME.expect.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "text/yaml/problem.h"

namespace weir::policy {

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline std::filesystem::path source_folder() {
  return WEIR_SOURCE_DIR;
}

struct MistakeFile {
  std::string name;
  std::string text;
  std::string expected;

  friend std::ostream& operator<<(std::ostream& out, const MistakeFile& file) { return out << file.name; }
};

// Reads tests/policy/FOLDER.
inline std::vector<MistakeFile> mistake_files(std::string_view folder) {
  constexpr std::string_view prefix = "# expect: ";
  std::vector<MistakeFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "tests" / "policy" / folder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() == ".expect") continue;
    MistakeFile file{path.stem(), text_of_file(path), {}};
    if (path.extension() == ".json") {
      file.expected = text_of_file(path.replace_extension(".expect"));
    } else if (file.text.starts_with(prefix)) {
      file.expected = file.text.substr(prefix.size());
    }
    file.expected.resize(std::min(file.expected.size(), file.expected.find('\n')));
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

// `LINE:COLUMN: message`, one per line; warnings are marked.
inline std::string problem_lines(const std::vector<Problem>& problems) {
  std::string lines;
  for (const Problem& problem : problems) {
    if (!lines.empty()) lines += '\n';
    lines += std::to_string(problem.at.line) + ':' + std::to_string(problem.at.column) + ": " +
             (problem.severity == Severity::warning ? "warning: " : "") + problem.message;
  }
  return lines;
}

}  // namespace weir::policy
