// Tests one file per mistake with its exact messages, and valid files.
#include <gtest/gtest.h>

#include <string_view>

#include "policy/load.h"
#include "tests/expected_lines.h"

namespace weir::policy {
namespace {

Files files_in(std::string_view folder) {
  return files_of(std::filesystem::path(WEIR_SOURCE_DIR) / "tests/policy" / folder);
}

Lines errors_of(const Loaded& loaded) {
  Lines errors;
  for (const Problem& problem : loaded.problems) {
    if (problem.severity != Severity::error) continue;
    errors.push_back(problem.text().substr(problem.file.size() + 1));
  }
  return errors;
}

TEST(EveryMistake, IsReportedAtItsPositionWithItsMessage) {
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
