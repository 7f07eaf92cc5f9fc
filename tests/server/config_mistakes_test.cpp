// One file per error in weir.yaml with the expected messages, and valid files.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "server/config.h"
#include "tests/expected_lines.h"

namespace weir::server {
namespace {

Files files_in(std::string_view folder) {
  return files_of(std::filesystem::path(WEIR_SOURCE_DIR) / "tests/server" / folder);
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
