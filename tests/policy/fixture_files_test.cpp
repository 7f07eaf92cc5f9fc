// One file per mistake, with all that is said about it; and files in which there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "policy/load.h"

namespace weir::policy {
namespace {

using Lines = std::vector<std::string>;
using Files = std::vector<std::filesystem::path>;

Files files_in(std::string_view folder) {
  Files files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WEIR_SOURCE_DIR) / "tests/policy" / folder)) {
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

Lines errors_of(const Loaded& loaded) {
  Lines errors;
  for (const Problem& problem : loaded.problems) {
    if (problem.severity != Severity::error) continue;
    errors.push_back(problem.text().substr(problem.file.size() + 1));
  }
  return errors;
}

TEST(EveryMistake, IsRefusedAtItsPlaceInTheseWords) {
  const Files files = files_in("mistakes");
  EXPECT_GE(files.size(), 250U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename());
    const Loaded loaded = load_path(path);
    EXPECT_EQ(loaded.ruleset, nullptr);
    EXPECT_EQ(errors_of(loaded), expected_in(path));
    EXPECT_FALSE(expected_in(path).empty());
  }
}

TEST(EveryValidFile, LoadsWithoutAMistake) {
  const Files files = files_in("valid");
  EXPECT_GE(files.size(), 12U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename());
    const Loaded loaded = load_path(path);
    EXPECT_EQ(errors_of(loaded), Lines{});
    ASSERT_NE(loaded.ruleset, nullptr);
    EXPECT_EQ(loaded.ruleset->digest.size(), 64U);
  }
}

}  // namespace
}  // namespace weir::policy
