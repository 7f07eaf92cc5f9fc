#include "app/top_screen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weir::app {
namespace {

TopLimit a_limit(const std::string& name, std::uint64_t decisions, std::uint64_t denied) {
  TopLimit limit;
  limit.name = name;
  limit.words = "10/min by ip on " + name;
  limit.minute = {decisions, denied, 0};
  limit.recent = {{decisions - 1, 0, 0}, {1, denied, 0}};
  return limit;
}

TopData some_data() {
  TopData data;
  data.address = "127.0.0.1:8089";
  data.version = "0.2.0";
  data.policy = "policy.yaml";
  data.now = {.at = "2026-01-05T12:00:01Z",
              .requests = 1200,
              .evaluated = 1000,
              .denied_requests = 12,
              .counts = {1850, 12, 0},
              .store = "local"};
  data.limits = {a_limit("login", 100, 50), a_limit("api", 1000, 60), a_limit("search", 10, 0)};
  data.denied = {{.limit = "login", .consumer = "ip:0b77c1d2e3f40516", .count = 40}};
  data.events = {{.id = 1, .at = "2026-01-05T11:59:00Z", .kind = "start", .level = "info", .message = "serving"}};
  return data;
}

Screen a_screen(TopData data = some_data()) {
  Screen screen(Charset::ascii, Order::denied, "");
  screen.update(std::move(data));
  return screen;
}

std::string text(const Screen& screen, const Size& size = {}) {
  std::string all;
  for (const Line& line : screen.lines(size)) all += text_of(line) + "\n";
  return all;
}

bool type(Screen& screen, const std::string& letters) {
  return std::ranges::all_of(letters, [&](char c) { return screen.press({.key = Key::letter, .letter = c}); });
}

void press(Screen& screen, Key key) {
  EXPECT_TRUE(screen.press({.key = key}));
}

std::vector<std::string> names(const Screen& screen, const TopData& data = some_data()) {
  std::vector<std::string> found;
  for (const std::size_t i : screen.chosen()) found.push_back(data.limits[i].name);
  return found;
}

using Names = std::vector<std::string>;

// The name in the selected row.
std::string selected(const Screen& screen, const Size& size = {}) {
  for (const Line& line : screen.lines(size)) {
    if (!line.empty() && line[0].ink == Ink::reverse) return line[0].text.substr(0, line[0].text.find(' '));
  }
  return "";
}

TEST(TheScreen, FitsEverySize) {
  TopData data = some_data();
  for (int i = 0; i < 100; ++i)
    data.limits.push_back(a_limit("limit-with-a-rather-long-name-" + std::to_string(i), 7, 3));
  data.events[0].message = std::string(500, 'x');
  data.store = {
      .topology = "cluster", .unavailable_since = "2026-01-05T12:00:00Z", .last_error = std::string(300, 'e')};
  for (const bool looks : {false, true}) {
    for (const bool helps : {false, true}) {
      Screen screen = a_screen(data);
      if (looks) press(screen, Key::enter);
      if (helps) {
        EXPECT_TRUE(type(screen, "?"));
      }
      for (const std::size_t columns : {0U, 1U, 10U, 20U, 40U, 60U, 80U, 132U, 300U}) {
        for (const std::size_t rows : {0U, 1U, 2U, 5U, 10U, 19U, 24U, 50U, 200U}) {
          const auto lines = screen.lines({columns, rows});
          EXPECT_EQ(lines.size(), rows);
          for (const Line& line : lines) EXPECT_LE(width_of(text_of(line)), columns) << rows;
        }
      }
    }
  }
}

TEST(TheScreen, ShowsAllThereIsAt80x24) {
  const std::string shown_text = text(a_screen());
  for (const auto* part :
       {"weir 0.2.0  127.0.0.1:8089  12:00:01 UTC",
        "1200/s requests  1850/s decisions  12/s denied (1.2 % of requests)", "store local", "LIMIT by denials",
        "MOST DENIED", "ip:0b77c1d2e3f40516  login", "11:59:00  start: serving", "q quit"}) {
    EXPECT_NE(shown_text.find(part), std::string::npos) << part << "\n" << shown_text;
  }
}

TEST(TheScreen, ARowHasTheNumbersOfTheLastMinute) {
  const auto lines = a_screen().lines({});
  const auto row = std::ranges::find_if(lines, [](const Line& line) { return text_of(line).starts_with("login "); });
  ASSERT_NE(row, lines.end());
  const std::string row_text = text_of(*row);
  EXPECT_NE(row_text.find("       100        50  50.0 %"), std::string::npos) << row_text;
}

TEST(TheScreen, GivesWayToLimitsWhereItIsLow) {
  const std::string low = text(a_screen(), {80, 12});
  EXPECT_EQ(low.find("EVENTS"), std::string::npos);
  EXPECT_NE(low.find("search"), std::string::npos);
}

TEST(TheScreen, SortsAsTheKeysSay) {
  Screen screen = a_screen();
  EXPECT_EQ(names(screen), (Names{"api", "login", "search"}));
  EXPECT_TRUE(type(screen, "t"));
  EXPECT_EQ(names(screen), (Names{"api", "login", "search"}));
  EXPECT_TRUE(type(screen, "r"));
  EXPECT_EQ(names(screen), (Names{"login", "api", "search"}));
  EXPECT_TRUE(type(screen, "n"));
  EXPECT_EQ(names(screen), (Names{"api", "login", "search"}));
  for (const auto* heading : {"LIMIT by denials", "LIMIT by traffic", "LIMIT by share", "LIMIT by name"}) {
    EXPECT_TRUE(type(screen, "s"));
    EXPECT_NE(text(screen, {132, 24}).find(heading), std::string::npos) << heading;
  }
}

TEST(TheScreen, FiltersByWhatIsTyped) {
  Screen screen = a_screen();
  EXPECT_TRUE(type(screen, "/qP"));  // letters, not keys
  EXPECT_EQ(names(screen), Names{});
  EXPECT_NE(text(screen).find("No limit has that in its name."), std::string::npos);
  press(screen, Key::backspace);
  press(screen, Key::backspace);
  EXPECT_TRUE(type(screen, "AP"));
  EXPECT_EQ(names(screen), Names{"api"});
  EXPECT_NE(text(screen).find("/AP_"), std::string::npos);
  press(screen, Key::enter);
  EXPECT_EQ(names(screen), Names{"api"});
  press(screen, Key::escape);
  EXPECT_EQ(names(screen).size(), 3U);
  EXPECT_TRUE(type(screen, "/lo"));
  press(screen, Key::escape);
  EXPECT_EQ(names(screen).size(), 3U);
}

TEST(TheScreen, TheSelectedLimitStaysSelectedAndInSight) {
  TopData data = some_data();
  for (int i = 10; i < 60; ++i) data.limits.push_back(a_limit("more-" + std::to_string(i), 5, 0));
  Screen screen = a_screen(data);
  EXPECT_EQ(selected(screen), "api");
  press(screen, Key::down);
  EXPECT_EQ(selected(screen), "login");
  EXPECT_TRUE(type(screen, "r"));  // sorted by share, it is the first
  EXPECT_EQ(selected(screen), "login");
  press(screen, Key::end);
  EXPECT_EQ(selected(screen), "more-59");
  EXPECT_EQ(selected(screen, {80, 7}), "more-59");
  press(screen, Key::page_up);
  EXPECT_EQ(selected(screen), "more-49");
  press(screen, Key::home);
  press(screen, Key::up);
  EXPECT_EQ(selected(screen), "login");
  EXPECT_TRUE(type(screen, "jk"));
  EXPECT_EQ(selected(screen), "login");
}

TEST(TheScreen, LooksAtALimitAndBack) {
  Screen screen = a_screen();
  press(screen, Key::down);
  press(screen, Key::enter);
  EXPECT_EQ(screen.looked_at(), "login");
  EXPECT_NE(text(screen).find("10/min by ip on login"), std::string::npos);
  EXPECT_NE(text(screen).find("100 decisions  50 denied (50.0 %)"), std::string::npos);
  TopData data = some_data();
  data.detail = data.limits[0];
  data.detail->top_denied = {{.limit = "", .consumer = "ip:aaaa", .count = 7}};
  data.detail->by_route = {{"POST /login", {100, 50, 0}}};
  data.detail->candidate = {.agreed = 1, .newly_denied = 2, .newly_admitted = 3};
  data.detail->spike = {.since = "2026-01-05T12:00:00Z", .rate = 50, .past = 9.5};
  screen.update(data);
  for (const auto* part : {"ip:aaaa", "POST /login", "newly denied 2", "since 12:00:00: 50/s, at most 9.5/s"}) {
    EXPECT_NE(text(screen).find(part), std::string::npos) << part;
  }
  data.detail.reset();
  data.limits.clear();
  screen.update(data);
  EXPECT_NE(text(screen).find("The active policy has no such limit."), std::string::npos);
  press(screen, Key::escape);
  EXPECT_EQ(screen.looked_at(), "");
}

TEST(TheScreen, StandsStillWhileItIsPaused) {
  Screen screen = a_screen();
  EXPECT_TRUE(type(screen, " "));
  TopData later = some_data();
  later.now.at = "2026-01-05T12:00:09Z";
  screen.update(later);
  EXPECT_NE(text(screen).find("12:00:01 UTC  PAUSED"), std::string::npos);
  later.problem = "gone";
  screen.update(later);
  EXPECT_NE(text(screen).find("NOT CONNECTED, retrying: gone"), std::string::npos);
  EXPECT_TRUE(type(screen, "p"));
  EXPECT_NE(text(screen).find("12:00:09"), std::string::npos);
}

TEST(TheScreen, SaysWhatIsWrong) {
  TopData data = some_data();
  data.reload_error = "policy.yaml:2:1: unknown";
  data.now.store = "open";
  data.store = {.topology = "single", .servers = 3, .connected = 1, .nodes = 2, .differing = 1};
  const std::string shown_text = text(a_screen(data), {160, 24});
  for (const auto* part :
       {"reload failed: policy.yaml:2:1", "store UNAVAILABLE", "1 WITH A DIFFERENT POLICY", "1 of 3 servers"}) {
    EXPECT_NE(shown_text.find(part), std::string::npos) << part << "\n" << shown_text;
  }
}

TEST(TheScreen, MarksWhatIsWorthALook) {
  TopData data = some_data();
  data.limits[0].spike = TopLimit::Spike{};
  data.limits[1].overflowed = 1;
  data.limits[2].is_shadow = true;
  data.limits.push_back(a_limit("next", 1, 0));
  data.limits.back().candidate = {.agreed = 1, .newly_denied = 1, .newly_admitted = 0};
  const std::string shown_text = text(a_screen(data));
  for (const auto* note : {" spike", " overflow", " shadow", " candidate"}) {
    EXPECT_NE(shown_text.find(note), std::string::npos) << note;
  }
}

// Hostile text from a server, in every view.
TEST(TheScreen, LetsNoControlCharacterThrough) {
  const std::string bad = "\x1b[2J\x07\xc2\x9b\r\n";
  TopData data;
  data.address = data.version = data.policy = data.reload_error = bad;
  data.now = {.at = bad, .store = bad};
  TopLimit limit = a_limit(bad, 5, 2);
  limit.total = {{bad, 1}};
  limit.by_route = {{bad, {1, 1, 0}}};
  limit.top_denied = {{bad, bad, 1}};
  limit.spike = {.since = bad, .rate = 1, .past = 1};
  data.limits = {limit};
  data.detail = limit;
  data.denied = {{bad, bad, 1}};
  data.events = {{.id = 1, .at = bad, .kind = bad, .level = bad, .message = bad}};
  data.store = {.topology = bad, .unavailable_since = bad, .last_error = bad};
  for (const bool looks : {false, true}) {
    for (const auto& problem : {std::string(), bad}) {
      data.problem = problem;
      Screen screen = a_screen(data);
      if (looks) press(screen, Key::enter);
      auto lines = screen.lines({400, 50});
      for (Line& line : screen.whole(400)) lines.push_back(line);
      for (const Line& line : lines) {
        for (const char c : text_of(line)) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << text_of(line);
      }
    }
  }
}

TEST(TheScreen, QuitsByOneKey) {
  Screen screen = a_screen();
  EXPECT_FALSE(type(screen, "q"));
  press(screen, Key::enter);
  EXPECT_FALSE(type(screen, "q"));
}

TEST(TheScreen, HelpComesAndGoes) {
  Screen screen = a_screen();
  EXPECT_TRUE(type(screen, "?"));
  EXPECT_NE(text(screen).find("KEYS"), std::string::npos);
  EXPECT_EQ(text(screen).find('~'), std::string::npos);  // all of it fits in 80 columns
  press(screen, Key::escape);
  EXPECT_EQ(text(screen).find("KEYS"), std::string::npos);
}

TEST(TheWholeText, HasEveryLimitAndNoKeys) {
  TopData data = some_data();
  for (int i = 10; i < 60; ++i) data.limits.push_back(a_limit("more-" + std::to_string(i), 5, 0));
  data.more_limits = 3;
  std::string all;
  for (const Line& line : a_screen(data).whole(80)) all += text_of(line) + "\n";
  EXPECT_NE(all.find("more-59"), std::string::npos);
  EXPECT_NE(all.find("and 3 more limits"), std::string::npos);
  EXPECT_EQ(all.find("q quit"), std::string::npos);
}

}  // namespace
}  // namespace weir::app
