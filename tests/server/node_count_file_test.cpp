#include "server/node_count_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "tests/temporary_folder.h"

namespace weir::server {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

class NodeCountFileTest : public testing::Test {
 protected:
  void update(NodeCountFile& file, std::uint32_t nodes) { EXPECT_TRUE(file.update(nodes, now_)); }
  [[nodiscard]] std::optional<std::uint32_t> on_disk() const { return NodeCountFile(folder_.path()).saved(); }
  void write(const std::string& text) const { std::ofstream(folder_.path() / "nodes") << text; }

  TemporaryFolder folder_;
  NodeCountFile::SteadyTime now_{1h};
};

TEST_F(NodeCountFileTest, HasNoCountBeforeThereIsOne) {
  EXPECT_EQ(on_disk(), std::nullopt);
}

TEST_F(NodeCountFileTest, OutlivesTheProcess) {
  NodeCountFile file(folder_.path());
  update(file, 3);
  EXPECT_EQ(on_disk(), 3U);
  update(file, 4);
  EXPECT_EQ(on_disk(), 4U);
}

TEST_F(NodeCountFileTest, KeepsTheLargerCountWhileNodesAreRestarted) {
  NodeCountFile file(folder_.path());
  update(file, 4);
  update(file, 3);
  now_ += 4min;
  update(file, 1);
  EXPECT_EQ(on_disk(), 4U);
  update(file, 4);
  now_ += 4min;
  update(file, 3);
  EXPECT_EQ(on_disk(), 4U);
}

TEST_F(NodeCountFileTest, TakesASmallerCountThatLasts) {
  {
    NodeCountFile file(folder_.path());
    update(file, 4);
  }
  NodeCountFile file(folder_.path());
  update(file, 2);
  EXPECT_EQ(on_disk(), 4U);
  now_ += NodeCountFile::until_smaller;
  update(file, 2);
  EXPECT_EQ(on_disk(), 2U);
}

TEST_F(NodeCountFileTest, IgnoresWhatIsNoCount) {
  for (const auto* text : {"", "many", "0", "-1", "4097", "99999999999999999999999"}) {
    write(text);
    EXPECT_EQ(on_disk(), std::nullopt) << text;
  }
}

TEST_F(NodeCountFileTest, WithoutADirectoryKeepsNothing) {
  NodeCountFile file{{}};
  EXPECT_TRUE(file.update(3, now_));
  EXPECT_EQ(file.saved(), std::nullopt);
}

TEST_F(NodeCountFileTest, TellsThatItCannotBeWritten) {
  NodeCountFile file(folder_.path() / "missing");
  const auto kept = file.update(3, now_);
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message().find("cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace weir::server
