// One file per mistake in weir.yaml, with all that is said about it; and files in which there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/config.h"

namespace weir::server {
namespace {

using Lines = std::vector<std::string>;
using Files = std::vector<std::filesystem::path>;

Files files_in(std::string_view folder) {
  Files files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WEIR_SOURCE_DIR) / "tests/server" / folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The comments at the top: `# expect: LINE:COLUMN: message`.
Lines expected_in(const std::filesystem::path& path) {
  constexpr std::string_view prefix = "# expect: ";
  std::ifstream file(path);
  Lines expected;
  for (std::string line; std::getline(file, line) && line.starts_with(prefix);) {
    expected.push_back(line.substr(prefix.size()));
  }
  return expected;
}

Lines said_of(const LoadedConfig& loaded) {
  Lines said;
  for (const text::Problem& problem : loaded.problems) {
    const std::string mark = problem.severity == text::Severity::warning ? "warning: " : "";
    said.push_back(mark + problem.text().substr(problem.file.size() + 1));
  }
  return said;
}

TEST(EveryMistakeInTheConfig, IsRefusedAtItsPlaceInTheseWords) {
  const Files files = files_in("config_mistakes");
  EXPECT_GE(files.size(), 100U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename());
    const LoadedConfig loaded = load_config(path, {});
    EXPECT_FALSE(loaded.config.has_value());
    EXPECT_EQ(said_of(loaded), expected_in(path));
    EXPECT_FALSE(expected_in(path).empty());
  }
}

TEST(EveryValidConfig, LoadsWithoutAWord) {
  const Files files = files_in("config_valid");
  EXPECT_GE(files.size(), 8U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename());
    const LoadedConfig loaded = load_config(path, {});
    EXPECT_EQ(said_of(loaded), Lines{});
    EXPECT_TRUE(loaded.config.has_value());
  }
}

}  // namespace
}  // namespace weir::server
