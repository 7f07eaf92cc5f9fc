#include "app/top_screen.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::app {
namespace {

std::string names(const std::vector<Press>& presses) {
  std::string text;
  for (const Press& press : presses) {
    if (!text.empty()) text += ' ';
    switch (press.key) {
      case Key::up:
        text += "up";
        break;
      case Key::down:
        text += "down";
        break;
      case Key::page_up:
        text += "page_up";
        break;
      case Key::page_down:
        text += "page_down";
        break;
      case Key::home:
        text += "home";
        break;
      case Key::end:
        text += "end";
        break;
      case Key::enter:
        text += "enter";
        break;
      case Key::escape:
        text += "escape";
        break;
      case Key::backspace:
        text += "backspace";
        break;
      case Key::letter:
        text += press.letter;
        break;
    }
  }
  return text;
}

TEST(Keys, AreReadFromBytes) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"sq", "s q"},
      {"\r\n", "enter enter"},
      {"\x7f\b", "backspace backspace"},
      {"\x1b[A\x1b[B", "up down"},
      {"\x1bOA\x1bOB", "up down"},
      {"\x1b[5~\x1b[6~", "page_up page_down"},
      {"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end home end"},
      {"\x1b[1;5Cx", "x"},  // an unknown key
      {"\x1bq", "escape q"},
      {"\x01\x0c\xc3\xa4", ""}  // not one of our keys
  };
  for (const auto& [bytes, expected] : rows) {
    KeyReader reader;
    EXPECT_EQ(names(reader.read(bytes)), expected);
    EXPECT_FALSE(reader.is_waiting());
  }
}

TEST(Keys, MayComeInParts) {
  KeyReader reader;
  EXPECT_EQ(names(reader.read("a\x1b")), "a");
  EXPECT_TRUE(reader.is_waiting());
  EXPECT_EQ(names(reader.read("[")), "");
  EXPECT_EQ(names(reader.read("5")), "");
  EXPECT_EQ(names(reader.read("~b")), "page_up b");
  EXPECT_FALSE(reader.is_waiting());
}

TEST(Keys, EscapeIsASequenceThatDoesNotGoOn) {
  KeyReader reader;
  EXPECT_EQ(names(reader.read("\x1b")), "");
  EXPECT_EQ(names(reader.flush()), "escape");
  EXPECT_EQ(names(reader.flush()), "");
}

TEST(Keys, ASequenceWithoutEndIsDropped) {
  KeyReader reader;
  EXPECT_EQ(names(reader.read("\x1b[" + std::string(1000, '1'))), "");
  EXPECT_FALSE(reader.is_waiting());
}

}  // namespace
}  // namespace weir::app
