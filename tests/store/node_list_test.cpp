// Which nodes count, at simulated times.
#include "store/node_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace weir::store {
namespace {

using namespace std::chrono_literals;
using SteadyTime = NodeList::SteadyTime;

constexpr std::uint32_t until_counted = 64;

// The lines in a store, and one node that reads them.
class Scene {
 public:
  // The next beat of a node, possibly this one.
  void beat(const std::string& id, const std::string& policy = "p") {
    lines_[id] = "1767614400123 " + beat_text({{.name = "node-" + id, .version = "1", .policy = policy}, ++number_});
  }
  void leave(const std::string& id) {
    lines_[id] = "1767614400123 " + beat_text({.facts = {}, .number = ++number_, .leaves = true});
  }
  void lose(const std::string& id) { lines_.erase(id); }

  // This node beats, `at` seconds after the start.
  std::uint32_t count_at(double at) {
    beat("self");
    std::vector<NodeList::Line> lines;
    for (const auto& [id, text] : lines_) lines.push_back({id, text});
    list.take(lines, moment(at));
    return list.count();
  }
  static SteadyTime moment(double at) {
    return SteadyTime{} + 1h + std::chrono::milliseconds(static_cast<int>(at * 1000));
  }

  NodeList list{"self", until_counted};

 private:
  std::map<std::string, std::string> lines_;
  std::uint64_t number_ = 0;
};

TEST(Beat, IsReadAsItWasWritten) {
  const std::vector<Beat> beats{
      {.facts = {.name = "web-1", .version = "0.2.0", .policy = "875f"}, .number = 17, .leaves = false},
      {.facts = {.name = "a=b", .version = "", .policy = ""}, .number = ~std::uint64_t{0}, .leaves = true},
      {}};
  for (const Beat& beat : beats) EXPECT_EQ(read_beat(beat_text(beat)), beat) << beat_text(beat);
}

TEST(Beat, WhatIsNotKnownIsPassedOver) {
  struct Row {
    std::string text;
    Beat beat;
  };
  const std::vector<Row> rows{
      {"1767614400123 zones=11 name=a beat=2", {.facts = {.name = "a", .version = {}, .policy = {}}, .number = 2}},
      {"  policy=p  leaves=0 = =x name", {.facts = {.name = {}, .version = {}, .policy = "p"}}},
      {"beat=many leaves=yes", {}},
      {"", {}}};
  for (const Row& row : rows) EXPECT_EQ(read_beat(row.text), row.beat) << row.text;
}

TEST(Beat, NamesAreWordsOfVisibleCharacters) {
  const std::string text = beat_text({{.name = "a b\n\xc3\xa4 leaves=1", .version = "1", .policy = "p"}, 1});
  EXPECT_EQ(text, "beat=1 name=a_b____leaves=1 version=1 policy=p");
  EXPECT_EQ(read_beat(beat_text({{.name = std::string(300, 'x'), .version = {}, .policy = {}}, 1})).facts.name.size(),
            256U);
}

TEST(NodeList, BeforeTheFirstAnswerTheConfiguredCountApplies) {
  const NodeList list("self", until_counted);
  EXPECT_EQ(list.count(), until_counted);
  EXPECT_TRUE(list.nodes(Scene::moment(0)).empty());
  EXPECT_EQ(NodeList("self", 0).count(), 1U);
}

TEST(NodeList, CountsNodesThatBeat) {
  Scene scene;
  EXPECT_EQ(scene.count_at(0), 1U);
  scene.beat("a");
  scene.beat("b");
  EXPECT_EQ(scene.count_at(1), 3U);
  for (int second = 2; second < 100; ++second) {
    scene.beat("a");
    scene.beat("b");
    EXPECT_EQ(scene.count_at(second), 3U) << second;
  }
}

TEST(NodeList, ThreeMissedBeatsAndANodeNoLongerCounts) {
  Scene scene;
  scene.beat("a");
  EXPECT_EQ(scene.count_at(0), 2U);
  for (const double at : {1.0, 2.0, 3.0, 3.99}) EXPECT_EQ(scene.count_at(at), 2U) << at;
  for (double at = 4; at < 10; ++at) EXPECT_EQ(scene.count_at(at), 1U) << "its line is still there: " << at;
  EXPECT_EQ(scene.list.nodes(Scene::moment(9)).size(), 1U);
  scene.beat("a");
  EXPECT_EQ(scene.count_at(10), 2U) << "it is back";
}

TEST(NodeList, TwoMissedBeatsAreNotThree) {
  Scene scene;
  scene.beat("a");
  EXPECT_EQ(scene.count_at(0), 2U);
  for (const double at : {1.0, 2.0, 3.0}) EXPECT_EQ(scene.count_at(at), 2U) << at;
  scene.beat("a");  // just after this node read
  EXPECT_EQ(scene.count_at(3.9), 2U);
  for (const double at : {5.0, 6.0, 7.0}) EXPECT_EQ(scene.count_at(at), 2U) << at;
}

TEST(NodeList, ALeavingNodeIsRemovedAtOnceAndStaysRemoved) {
  Scene scene;
  scene.beat("a");
  EXPECT_EQ(scene.count_at(0), 2U);
  scene.leave("a");
  EXPECT_EQ(scene.count_at(1), 1U);
  EXPECT_EQ(scene.count_at(2), 1U);
}

TEST(NodeList, ALineThatIsLostIsSilence) {
  Scene scene;
  scene.beat("a");
  EXPECT_EQ(scene.count_at(0), 2U);
  scene.lose("a");
  scene.lose("self");
  for (const double at : {1.0, 2.0, 3.0}) EXPECT_EQ(scene.count_at(at), 2U) << "the store came back empty: " << at;
  EXPECT_EQ(scene.count_at(4), 1U);
}

TEST(NodeList, WhileTheStoreIsUnavailableTheCountStands) {
  Scene scene;
  scene.beat("a");
  scene.beat("b");
  EXPECT_EQ(scene.count_at(0), 3U);
  EXPECT_EQ(scene.list.nodes(Scene::moment(3600)).size(), 3U);
  EXPECT_EQ(scene.list.count(), 3U);
}

TEST(NodeList, AfterAnOutageTheOthersHaveTimeToFindBack) {
  Scene scene;
  scene.beat("a");
  scene.beat("b");
  EXPECT_EQ(scene.count_at(0), 3U);
  EXPECT_EQ(scene.count_at(60), 3U) << "this node is the first";
  for (double at = 61; at < 66; ++at) EXPECT_EQ(scene.count_at(at), 3U) << at;
  scene.beat("a");
  for (double at = 66; at < 69; ++at) EXPECT_EQ(scene.count_at(at), 3U) << at;
  EXPECT_EQ(scene.count_at(69), 2U) << "b did not come back";
  EXPECT_EQ(scene.count_at(70), 1U) << "a was last seen at 66";
}

TEST(NodeList, AnOutageDoesNotReviveRemovedNodes) {
  Scene scene;
  scene.beat("dead");
  scene.beat("left");
  for (double at = 0; at < 3; ++at) scene.count_at(at);
  scene.leave("left");
  for (double at = 3; at < 6; ++at) scene.count_at(at);
  EXPECT_EQ(scene.list.count(), 1U);
  EXPECT_EQ(scene.count_at(60), 1U);
  EXPECT_EQ(scene.count_at(61), 1U);
}

TEST(NodeList, ThisNodeAlwaysCounts) {
  NodeList list("self", until_counted);
  list.take({}, Scene::moment(0));
  EXPECT_EQ(list.count(), 1U);
}

TEST(NodeList, ListsTheNodes) {
  Scene scene;
  scene.beat("b", "other");
  scene.beat("a");
  scene.count_at(0);
  scene.beat("a");
  scene.count_at(1);
  const auto nodes = scene.list.nodes(Scene::moment(1.5));
  ASSERT_EQ(nodes.size(), 3U);
  const std::vector<std::string> names{"node-a", "node-b", "node-self"};
  const std::vector<Duration> silent{500ms, 1500ms, 500ms};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].facts.name, names[i]);
    EXPECT_EQ(nodes[i].silent, silent[i]);
    EXPECT_EQ(nodes[i].is_self, i == 2);
    EXPECT_EQ(nodes[i].differs("p"), i == 1);
  }
  EXPECT_FALSE(nodes[2].differs("the next")) << "what this node beat a second ago is not another node's";
}

TEST(NodeList, WhatIsBeyondTheBoundIsNotKept) {
  NodeList list("self", until_counted);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < NodeList::max_nodes + 10; ++i) ids.push_back(std::to_string(i));
  std::vector<NodeList::Line> lines;
  for (const std::string& id : ids) lines.push_back({id, "beat=1"});
  list.take(lines, Scene::moment(0));
  EXPECT_EQ(list.count(), NodeList::max_nodes + 1);
}

}  // namespace
}  // namespace weir::store
