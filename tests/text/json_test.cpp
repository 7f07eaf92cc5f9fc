#include "text/json.h"

#include <gtest/gtest.h>

namespace weir::text {
namespace {

TEST(JsonText, EscapesWhatJsonDoesNotTake) {
  EXPECT_EQ(json_text("a\"b\\c\n\t\x01\x7F"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
  EXPECT_EQ(json_text("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\x89"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\x89\"");
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(json_text("\xFF"), "\"\\ufffd\"");
  EXPECT_EQ(json_text("\xC0\xAF"), "\"\\ufffd\\ufffd\"");             // overlong
  EXPECT_EQ(json_text("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
  EXPECT_EQ(json_text("a\xE2\x82"), "\"a\\ufffd\\ufffd\"");           // truncated
}

TEST(JsonText, EscapesWhatEndsLinesInSomeReaders) {
  EXPECT_EQ(json_text("\xE2\x80\xA8\xE2\x80\xA9"), "\"\\u2028\\u2029\"");
}

// U+202E in a name would reverse the display of the rest of a line.
TEST(JsonText, EscapesWhatIsNotSeenAndActs) {
  EXPECT_EQ(json_text("api\xE2\x80\xAE"
                      "moc"),
            R"("api\u202emoc")");
  EXPECT_EQ(json_text("\xC2\x9B\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C"), R"("\u009b\u2066\u200f\u061c")");
  EXPECT_EQ(json_text("\xF3\xA0\x81\xA1"), R"("\udb40\udc61")") << "a tag, which is above 16 bits";
  EXPECT_EQ(json_text("\xD7\xA9\xD7\x9C\xD9\x85"), "\"\xD7\xA9\xD7\x9C\xD9\x85\"") << "letters stay";
}

}  // namespace
}  // namespace weir::text
