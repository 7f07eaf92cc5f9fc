#include <filesystem>
#include <fstream>

#include "tests/overrides/service_fixture.h"

namespace weir::overrides {
namespace {

class ChangeLogTest : public ServiceTest {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / change_log_file; }
  [[nodiscard]] std::string content() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void append(std::string_view text) { std::ofstream(file(), std::ios::binary | std::ios::app) << text; }
  void fill() {
    ASSERT_EQ(put(R"("id":"a","limit":"api","consumer":"alice","factor":2.5,"permanent":true,"reason":"one")").status,
              200U);
    ASSERT_EQ(put(R"("id":"b","limit":"api","consumer":"bob","numbers":{"rate":"9/h","burst":4},"for":"1h",)"
                  R"("reason":"two")")
                  .status,
              200U);
    ASSERT_EQ(
        block(R"("id":"c","identity":"ip=192.0.2.0/24","routes":["GET /x","/y/**"],"for":"1h","reason":"\"three\"")")
            .status,
        200U);
    ASSERT_EQ(remove("b").status, 200U);
  }
};

TEST_F(ChangeLogTest, ARestartRestoresTheSetTheHistoryAndTheVersion) {
  serve(bucket_policy);
  fill();
  const std::string before = list() + list(Kind::block) + history() + history(Kind::block);
  restart(bucket_policy);
  EXPECT_EQ(list() + list(Kind::block) + history() + history(Kind::block), before);
  EXPECT_EQ(send(alice()).decision.limit, 5U);
  EXPECT_EQ(send(Request::to("GET /x").from("192.0.2.9")).reason, Reason::blocked_by_operator);
  EXPECT_EQ(put(R"("limit":"api","consumer":"bob","factor":2,"for":"1h","reason":"r")").version, 5U);
}

TEST_F(ChangeLogTest, EveryPrefixOfTheFileRestoresTheChangesThatItHasCompletely) {
  serve(bucket_policy);
  fill();
  const std::string all = content();
  for (std::size_t length = 0; length <= all.size(); ++length) {
    service_.reset();
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << all.substr(0, length);
    open();
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(all.substr(0, length), '\n'));
    ASSERT_EQ(service_->figures().version, lines) << length;
    ASSERT_EQ(content(), all.substr(0, all.substr(0, length).rfind('\n') + 1)) << length;
  }
}

TEST_F(ChangeLogTest, AnInvalidLineStopsTheStart) {
  serve(bucket_policy);
  fill();
  service_.reset();
  append("{\"action\":\"set\"}\n");
  const auto opened = Service::open(*engine_, clock_, {.directory = folder_.path()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(
      opened.error().message(),
      file().string() + ":5: invalid line; restore the file from a backup, or remove the line to start without it");
}

TEST_F(ChangeLogTest, ExpiredRecordsLeaveALineInTheHistory) {
  serve(bucket_policy);
  fill();
  advance(1h);
  expire();
  EXPECT_EQ(list(Kind::block), R"({"version":5,"blocks":[],"next":null})");
  EXPECT_NE(history(Kind::block).find(R"({"action":"expire","version":5,"at":"2026-01-05T13:00:00Z","by":"weir")"),
            std::string::npos)
      << history(Kind::block);
  EXPECT_TRUE(passes(Request::to("GET /x").from("192.0.2.9")));
}

TEST_F(ChangeLogTest, ARewrittenLogRestoresTheSameSet) {
  serve(bucket_policy);
  fill();
  for (int i = 0; i < 5000; ++i) {
    const std::string fields =
        R"("id":"x","limit":"api","consumer":"eve","for":"1h","reason":"r","factor":)" + std::to_string(2 + i % 2);
    ASSERT_EQ(put(fields).status, 200U);
  }
  EXPECT_LT(std::ranges::count(content(), '\n'), 3100);
  const std::string before = list() + list(Kind::block) + history();
  restart(bucket_policy);
  EXPECT_EQ(list() + list(Kind::block) + history(), before);
}

TEST_F(ChangeLogTest, WithoutADirectoryChangesAreRejected) {
  load(whole(bucket_policy));
  service_ = std::move(*Service::open(*engine_, clock_, {}));
  const Answer answer = put(R"("limit":"api","consumer":"bob","factor":2,"for":"1h","reason":"r")");
  EXPECT_EQ(answer.status, 403U);
  EXPECT_EQ(answer.text,
            "Overrides are disabled: this server has no state directory that it can write to. Set state.directory "
            "in weir.yaml.");
}

}  // namespace
}  // namespace weir::overrides
