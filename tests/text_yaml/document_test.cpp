#include "text/yaml/document.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::text {
namespace {

std::string place(Mark at) {
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

// The tree on one line, each value with its position.
std::string shape(const Node& node) {
  std::string text = place(node.at);
  switch (node.kind) {
    case Node::Kind::null:
      return text + " null";
    case Node::Kind::scalar:
      return text + (node.quoted ? " '" + node.text + "'" : " " + node.text);
    case Node::Kind::sequence:
      text += " [";
      for (const Node& item : node.items) text += shape(item) + ", ";
      return text + "]";
    case Node::Kind::map:
      text += " {";
      for (const Member& member : node.members) {
        text += place(member.key.at) + " " + member.key.value + ": " + shape(member.value) + ", ";
      }
      return text + "}";
  }
  return text;
}

std::string parsed(std::string_view text) {
  Problems problems("f");
  const auto root = parse_yaml(text, problems);
  if (root) return shape(*root);
  std::string said;
  for (const Problem& problem : problems.sorted()) said += problem.text();
  return said;
}

TEST(Document, KnowsThePlaceOfEachValue) {
  EXPECT_EQ(parsed("a: 1\nb:\n  - x\n  - c: \"2\"\n"),
            "1:1 {1:1 a: 1:4 1, 2:1 b: 3:3 [3:5 x, 4:5 {4:5 c: 4:8 '2', }, ], }");
}

TEST(Document, CountsColumnsInCharacters) {
  EXPECT_EQ(parsed("{ \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\": 1 }"),
            "1:1 {1:3 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80: 1:10 1, }");
}

TEST(Document, HasTheKeysPlaceForAValueThatIsNotThere) {
  EXPECT_EQ(parsed("a:\nb: ~\nc: null\n"), "1:1 {1:1 a: 1:1 null, 2:1 b: 2:1 null, 3:1 c: 3:1 null, }");
}

TEST(Document, LeavesScalarsAsText) {
  EXPECT_EQ(parsed("[010, 1e3, 0x1F, yes, 1_000, '5', 2024-01-01, !!str 7]"),
            "1:1 [1:2 010, 1:7 1e3, 1:12 0x1F, 1:18 yes, 1:23 1_000, 1:30 '5', 1:35 2024-01-01, 1:47 '7', ]");
}

TEST(Document, MayBeJsonWithTabsAndSurrogates) {
  EXPECT_EQ(parsed("{\n\t\"a\"\t:\t[1,\t2],\n\t\"b\":{\"c\":\"\\ud83d\\ude00\\/\\\\ud83d\"},\"d\":null}\n"),
            "1:1 {2:2 a: 2:8 [2:9 1, 2:12 2, ], 3:2 b: 3:6 {3:7 c: 3:11 '\xf0\x9f\x98\x80/\\ud83d', }, "
            "3:34 d: 3:34 null, }");
}

TEST(Document, MayBeginWithAByteOrderMarkAndEndItsLinesAsOnWindows) {
  EXPECT_EQ(parsed("\xef\xbb\xbf"
                   "a: 1\r\nb:\r\n  - 2\r\n"),
            "1:1 {1:1 a: 1:4 1, 2:1 b: 3:3 [3:5 2, ], }");
}

TEST(Document, MayHaveMarkersOfItsBeginningAndEnd) {
  EXPECT_EQ(parsed("%YAML 1.2\n---\na: 1\n...\n"), "3:1 {3:1 a: 3:4 1, }");
}

TEST(Document, ExpandsAliasesInPlace) {
  EXPECT_EQ(parsed("a: &x { k: 1 }\nb: *x\n"), "1:1 {1:1 a: 1:4 {1:9 k: 1:12 1, }, 2:1 b: 2:4 {1:9 k: 1:12 1, }, }");
  // A redefined anchor applies from there on.
  EXPECT_EQ(parsed("[&a 1, *a, &a 2, *a]"), "1:1 [1:2 1, 1:8 1, 1:12 2, 1:18 2, ]");
}

TEST(Document, WithADuplicateKeyIsRejectedAtTheSecond) {
  EXPECT_EQ(parsed("b: 1\na: 1\n\"a\": 2\nb: 2\n"), "f:3:1: duplicate key 'a': first defined in line 2");
  EXPECT_EQ(parsed("a\tb: 1\na\tb: 2\n"), "f:2:1: duplicate key 'a?b': first defined in line 1");
  EXPECT_EQ(parsed("- { a: 1, b: 2, a: 3 }\n"), "f:1:17: duplicate key 'a': first defined in line 1");
}

TEST(Document, TakesQuotedMergeKeysForText) {
  EXPECT_EQ(parsed("\"<<\": 1\n"), "1:1 {1:1 <<: 1:7 1, }");
  EXPECT_EQ(parsed("<<: 1\n"), "f:1:1: merge keys (<<) are not supported: write the fields out");
}

TEST(Document, WithoutContentIsRejected) {
  for (const auto* text : {"", "\n\n", "# nothing\n", "---\n", "---\n...\n", "~\n", "\xef\xbb\xbf"}) {
    EXPECT_EQ(parsed(text), "f:1:1: the file is empty") << text;
  }
}

TEST(Document, ThatIsNotUtf8IsRejectedAtTheByte) {
  const std::string not_utf8 = " is not UTF-8: save the file as UTF-8";
  EXPECT_EQ(parsed("a: \xff"), "f:1:4: the byte 0xff" + not_utf8);
  EXPECT_EQ(parsed("a: \xc3\xa9\xc3"), "f:1:5: the byte 0xc3" + not_utf8);
  EXPECT_EQ(parsed("a:\n \xed\xa0\x80"), "f:2:2: the byte 0xed" + not_utf8);    // a surrogate
  EXPECT_EQ(parsed("a: \xc0\xaf"), "f:1:4: the byte 0xc0" + not_utf8);          // overlong
  EXPECT_EQ(parsed("a: \xe0\x80\xaf"), "f:1:4: the byte 0xe0" + not_utf8);      // overlong
  EXPECT_EQ(parsed("a: \xf4\x90\x80\x80"), "f:1:4: the byte 0xf4" + not_utf8);  // beyond Unicode
  EXPECT_EQ(parsed("\xff\xfe"
                   "a"),
            "f:1:1: the byte 0xff" + not_utf8);  // UTF-16
  EXPECT_EQ(parsed(std::string_view("a: \0b", 5)), "f:1:4: the control character 0x00 is not allowed in text");
  EXPECT_EQ(parsed("a: \x1b[0m"), "f:1:4: the control character 0x1b is not allowed in text");
}

}  // namespace
}  // namespace weir::text
