// Hostile texts. Each is rejected or parsed in bounded time and memory; the time limit of the test is the bound.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "text/yaml/document.h"

namespace weir::text {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string refusal(std::string_view text) {
  Problems problems("f");
  if (parse_yaml(text, problems)) return "";
  return problems.sorted().front().text();
}

TEST(DeepNesting, IsRejectedBeyond64Levels) {
  for (const int levels : {1, 63, 64}) {
    const auto n = static_cast<std::size_t>(levels);
    EXPECT_EQ(refusal(repeated("[", n) + repeated("]", n)), "") << levels;
    EXPECT_EQ(refusal(repeated("- ", n) + "x"), "") << levels;
    EXPECT_EQ(refusal(repeated("{a: ", n) + "1" + repeated("}", n)), "") << levels;
  }
  EXPECT_EQ(refusal(repeated("[", 65) + repeated("]", 65)), "f:1:65: nested too deeply: at most 64 levels");
  EXPECT_EQ(refusal(repeated("- ", 65) + "x"), "f:1:129: nested too deeply: at most 64 levels");
  EXPECT_EQ(refusal(repeated("- ", 100'000)), "f:1:129: nested too deeply: at most 64 levels");
}

TEST(DeepNesting, NeverReachesTheStack) {
  for (const auto* opening : {"[", "{", "{a: ", "[a: ", "- ", "? ", "- - ", "[{", "!!str [", "&a [", "? - ", "{? "}) {
    EXPECT_NE(refusal(repeated(opening, 100'000)), "") << opening;
    EXPECT_NE(refusal("a: " + repeated(opening, 100'000)), "") << opening;
  }
  std::string steps;
  for (std::size_t i = 0; i < 3'000; ++i) steps += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(refusal(steps), "f:65:65: nested too deeply: at most 64 levels");
}

TEST(DeepNesting, ThroughAliasesCountsToo) {
  std::string text = "a0: &a0 " + repeated("[", 40) + repeated("]", 40) + "\n";
  text += "b: " + repeated("[", 40) + "*a0" + repeated("]", 40) + "\n";
  EXPECT_EQ(refusal(text), "f:2:44: nested too deeply: at most 64 levels");
}

TEST(Bomb, OfAliasesIsRejectedBeforeItIsExpanded) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    text += name + ": &" + name + " [" + repeated(before + ", ", 9) + before + "]\n";
  }
  EXPECT_EQ(refusal(text), "f:6:40: too many values: at most 1000000 after aliases are expanded");
}

TEST(Bomb, OfLongTextsIsRejected) {
  const std::string text = "x: &a " + std::string(5'000'000, 'x') + "\ny: [*a, *a, *a, *a, *a]\n";
  EXPECT_EQ(refusal(text), "f:2:13: too large: the text exceeds the limit after aliases are expanded");
}

TEST(Bomb, OfAnchorsWithinAnchorsIsRejected) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "&a" + std::to_string(i) + " [";
  text += repeated("0, ", 300'000) + "0" + repeated("]", 60);
  EXPECT_NE(refusal(text).find("too many values: at most 1000000"), std::string::npos);
}

TEST(Cycle, IsRejected) {
  const std::string endless = "recursive alias: it refers to a value that contains it";
  EXPECT_EQ(refusal("a: &a [1, *a]\n"), "f:1:11: " + endless);
  EXPECT_EQ(refusal("&a { b: &b { c: *a } }\n"), "f:1:17: " + endless);
}

TEST(LargeFile, IsRejectedBeyondTenMegabytes) {
  EXPECT_EQ(refusal(std::string(max_bytes, 'x')), "");
  EXPECT_EQ(refusal(std::string(max_bytes + 1, 'x')), "f:1:1: the file is too large: at most 10 MiB");
}

// Half a megabyte of each: quadratic time would take minutes.
TEST(LargeFile, OfAnyKindIsParsedOrRejectedInTime) {
  for (const auto* piece :
       {"[",  "{", "]",  "[]",     "a: ",   "a\n",   "- a\n", "-\n", "\"a", "'a\n", "&a ", "*a ", "!a ", "!<a> ", "#\n",
        "\n", " ", "\t", "%a b\n", "---\n", "...\n", "? ",    ": ",  ", ",  "|\n",  "> ",  "\\",  "\r",  "a: b: "}) {
    const std::string text = repeated(piece, (max_bytes / 20) / std::string_view(piece).size());
    (void)refusal(text);
    (void)refusal("x: " + text);
  }
}

TEST(LargeFile, WithAMillionValuesIsTheLargest) {
  EXPECT_EQ(refusal("[" + repeated("0,", 999'999) + "]"), "");
  EXPECT_EQ(refusal("[" + repeated("0,", 1'000'000) + "]"),
            "f:1:2000000: too many values: at most 1000000 after aliases are expanded");
}

}  // namespace
}  // namespace weir::text
