#include "observe/log_line.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/observe/folder.h"

namespace weir::observe {
namespace {

Denial denial() {
  return {.time = noon + 42us,
          .reason = "exceeded",
          .limit = "login",
          .method = "POST",
          .route = "POST /login",
          .tier = "free",
          .consumer = "user:9f3c0d12ab34ef56",
          .address = text::Address::parse("203.0.113.77"),
          .cost = Cost{2},
          .decision = {.admitted = false, .limit = 5, .remaining = 1, .retry_after = 2'500'000us}};
}

std::string line_of(const Denial& denial) {
  std::string line;
  append_denial(line, denial);
  return line;
}

TEST(LogLine, DenialHasTheLimitAndNoPersonalData) {
  EXPECT_EQ(line_of(denial()),
            R"({"time":"2026-01-05T12:00:00.000042Z","event":"denied","reason":"exceeded","limit":"login",)"
            R"("method":"POST","route":"POST /login","tier":"free","consumer":"user:9f3c0d12ab34ef56",)"
            R"("ip":"203.0.113.0/24","cost":2,"retry_after":2.5,"quota":5,"remaining":1})"
            "\n");
}

TEST(LogLine, WaitThatNeverEndsIsNull) {
  Denial never = denial();
  never.decision.retry_after.reset();
  EXPECT_NE(line_of(never).find(R"("retry_after":null,)"), std::string::npos);
}

TEST(LogLine, UnknownFieldsAreOmitted) {
  EXPECT_EQ(line_of({.time = noon, .reason = "key_missing"}),
            R"({"time":"2026-01-05T12:00:00.000000Z","event":"denied","reason":"key_missing","cost":1,)"
            R"("retry_after":0,"quota":0,"remaining":0})"
            "\n");
}

TEST(LogLine, MethodOfAStrangerIsCutAndEscaped) {
  Denial strange = denial();
  const std::string method = "\"\n" + std::string(10'000, 'A');
  strange.method = method;
  EXPECT_NE(line_of(strange).find(R"("method":"\"\n)" + std::string(30, 'A') + "\","), std::string::npos);
}

TEST(LogLine, ChangeHasTheHashedConsumer) {
  std::string line;
  append_change(line, noon,
                {.what = "reset", .limit = "login", .consumer = "user:9f3c0d12ab34ef56", .outcome = "done"});
  EXPECT_EQ(line, R"({"time":"2026-01-05T12:00:00.000000Z","event":"change","what":"reset","limit":"login",)"
                  R"("consumer":"user:9f3c0d12ab34ef56","outcome":"done"})"
                  "\n");
}

TEST(LogLine, SpikeHasTwoRates) {
  std::string line;
  append_spike(line, noon, {.limit = "login", .rate = 5010.6, .past = 990.2, .seconds = 60});
  EXPECT_EQ(
      line,
      R"({"time":"2026-01-05T12:00:00.000000Z","event":"spike","limit":"login","rate":5011,"past":990,"seconds":60})"
      "\n");
}

TEST(LogLine, MessageHasALevelAndIsOneLine) {
  struct Row {
    Level level;
    const char* name;
  };
  for (const Row& row : {Row{Level::info, "info"}, Row{Level::warning, "warning"}, Row{Level::error, "error"}}) {
    std::string line;
    append_message(line, noon, row.level, "a \"word\"\nand more");
    EXPECT_EQ(line, std::string(R"({"time":"2026-01-05T12:00:00.000000Z","level":")") + row.name +
                        R"(","message":"a \"word\"\nand more"})" + "\n");
  }
}

TEST(LogLine, SuppressedHasTheCount) {
  std::string line;
  append_suppressed(line, noon, 12);
  EXPECT_EQ(line, R"({"time":"2026-01-05T12:00:00.000000Z","event":"suppressed","count":12})"
                  "\n");
}

TEST(TruncatedAddress, KeepsTheNetworkAndLosesTheHost) {
  struct Row {
    const char* address;
    const char* text;
  };
  for (const Row& row : {Row{"203.0.113.77", "203.0.113.0/24"}, Row{"0.0.0.255", "0.0.0.0/24"},
                         Row{"2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"}, Row{"::1", "::/48"},
                         Row{"::ffff:203.0.113.77", "203.0.113.0/24"}}) {
    EXPECT_EQ(truncated(*text::Address::parse(row.address)), row.text);
  }
}

}  // namespace
}  // namespace weir::observe
