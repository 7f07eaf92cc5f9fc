#include "text/yaml/comments.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace weir::text {
namespace {

using Lines = std::vector<std::string>;

// LINE:COLUMN TEXT -> the line that it belongs to
Lines comments_in(std::string_view text) {
  Lines lines;
  for (const Comment& comment : comments_of(text)) {
    lines.push_back(fmt::format("{}:{} {} -> {}", comment.at.line, comment.at.column, comment.text, comment.line));
  }
  return lines;
}

TEST(Comments, BehindAValueAreAboutTheirOwnLine) {
  EXPECT_EQ(comments_in("a: 1 # one\nb: 2\t#two  \r\n"), (Lines{"1:8 one -> 1", "2:7 two -> 2"}));
}

TEST(Comments, ThatStandAloneAreAboutTheNextLineThatIsMoreThanAComment) {
  EXPECT_EQ(comments_in("# one\n\n  # two\na: 1\n# three\n"),
            (Lines{"1:3 one -> 4", "3:5 two -> 4", "5:3 three -> 0"}));
}

TEST(Comments, HaveTheirPlaceInCharactersNotBytes) {
  EXPECT_EQ(comments_in("\xef\xbb\xbf"
                        "a: '\xc3\xa4' # one"),
            Lines{"1:10 one -> 1"});
}

TEST(Comments, AreNotInQuotes) {
  for (const std::string_view text : {
           "a: 'x # y'\n",
           "a: \"x # y\"\n",
           "a: 'it''s # y'\n",
           "a: \"\\\" # y\"\n",
           "a: 'one\n  # two\n  three'\n",
           "[\"# x\", '# y']\n",
           "{\"a\":\"# x\"}\n",
           "- '# x'\n",
           "\"a # b\": 1\n",
           "a: !!str '# x'\n",
       }) {
    EXPECT_EQ(comments_in(text), Lines{}) << text;
  }
}

TEST(Comments, AreNotWithinWords) {
  EXPECT_EQ(comments_in("a: x#y\nb: http://h/#z\n"), Lines{});
}

TEST(Comments, AreNotInBlockScalars) {
  EXPECT_EQ(comments_in("a: |\n  # no\n\n  # no\nb: 1 # yes\n"), Lines{"5:8 yes -> 5"});
  EXPECT_EQ(comments_in("- a: >-\n    # no\n  b: 1 # yes\n"), Lines{"3:10 yes -> 3"});
  EXPECT_EQ(comments_in("- |\n  # no\n- 1 # yes\n"), Lines{"3:7 yes -> 3"});
  EXPECT_EQ(comments_in("a: | # yes\n  # no\n"), Lines{"1:8 yes -> 1"});
}

TEST(Comments, FollowQuotesThatOnlyLookLikeOnes) {
  for (const std::string_view text : {
           "a: it's # yes",
           "a: x 'y # yes",
           "a: [it's, x] # yes",
           "a: { b: it's } # yes",
           "a: 5 > 3 | 2 # yes",
       }) {
    const Lines found = comments_in(text);
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_NE(found.front().find(" yes -> 1"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace weir::text
