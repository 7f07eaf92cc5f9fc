#include "server/sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "tests/temporary_folder.h"

namespace weir::server {
namespace {

constexpr std::string_view policy = "version: 1\nlimits: [{name: a, consumer_key: user, algorithm: gcra, rate: 1/s}]\n";

class Watch : public testing::Test {
 protected:
  // Replaces the file by another inode.
  std::filesystem::path write(std::string_view name, std::string_view text) {
    const std::filesystem::path path = folder_.path() / name;
    const std::filesystem::path fresh = folder_.path() / "fresh";
    std::ofstream(fresh) << text;
    std::filesystem::rename(fresh, path);
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(Watch, SeesAChangeOnce) {
  FileWatch watch({write("a", "1"), write("b", "1")});
  EXPECT_FALSE(watch.changed());
  write("b", "2");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST_F(Watch, WaitsForAFileThatIsAway) {
  const auto file = write("a", "1");
  FileWatch watch({file});
  std::filesystem::remove(file);
  EXPECT_FALSE(watch.changed());
  write("a", "2");
  EXPECT_TRUE(watch.changed());
}

TEST_F(Watch, SeesAFileThatWasAwayFromTheBeginning) {
  FileWatch watch({write("a", "1"), folder_.path() / "b"});
  EXPECT_FALSE(watch.changed());
  write("b", "1");
  EXPECT_TRUE(watch.changed());
}

TEST_F(Watch, SeesTheOthersWhileOneIsAway) {
  FileWatch watch({write("a", "1"), folder_.path() / "b"});
  write("a", "2");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST_F(Watch, SeesWhatChangesInADirectory) {
  std::filesystem::create_directory(folder_.path() / "many");
  write("many/a", "1");
  FileWatch watch({folder_.path() / "many"});
  EXPECT_FALSE(watch.changed());
  write("many/a", "2");
  EXPECT_TRUE(watch.changed());
}

TEST_F(Watch, OfWhatWasLoadedSeesEveryChangeSince) {
  const Sources sources{
      .config_file = write("weir.yaml", "version: 1\npolicy: policy.yaml\n"), .policy_file = {}, .environment = {}};
  write("policy.yaml", policy);
  for (const auto& [name, text] :
       {std::pair{"policy.yaml", policy}, {"weir.yaml", "version: 1\npolicy: policy.yaml"}}) {
    Loaded loaded = load(sources);
    ASSERT_TRUE(loaded.complete()) << loaded.errors();
    EXPECT_FALSE(loaded.watch.changed());
    write(name, text);
    EXPECT_TRUE(loaded.watch.changed()) << name;
  }
}

TEST_F(Watch, OfAPolicyThatIsRefusedSeesItMended) {
  const Sources sources{.config_file = {}, .policy_file = write("policy.yaml", "version: 2\n"), .environment = {}};
  Loaded loaded = load(sources);
  EXPECT_FALSE(loaded.complete());
  write("policy.yaml", policy);
  EXPECT_TRUE(loaded.watch.changed());
}

}  // namespace
}  // namespace weir::server
