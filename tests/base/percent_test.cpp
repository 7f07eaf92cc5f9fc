#include "base/percent.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::base {
namespace {

TEST(Percent, WhatIsNotPlainIsEncoded) {
  EXPECT_EQ(percent_encoded("a-b_c.d~9", is_unreserved), "a-b_c.d~9");
  EXPECT_EQ(percent_encoded("a b/\xC3\xA9%", is_unreserved), "a%20b%2F%C3%A9%25");
  EXPECT_EQ(percent_encoded("A:b", is_lower, lower_hex_digits), "%41%3ab");
}

TEST(Percent, EveryByteIsDecodedToWhatItWas) {
  std::string all;
  for (int c = -128; c < 128; ++c) all += static_cast<char>(c);
  const auto none = [](char) { return false; };
  EXPECT_EQ(percent_decoded(percent_encoded(all, none)), all);
  EXPECT_EQ(percent_decoded(percent_encoded(all, none, lower_hex_digits)), all);
  EXPECT_EQ(percent_decoded(percent_encoded(all, is_unreserved)), all);
}

TEST(Percent, TextIsDecodedOnce) {
  EXPECT_EQ(percent_decoded("%252F+%2f"), "%2F+/");
  EXPECT_EQ(percent_decoded(""), "");
}

TEST(Percent, AnIncompleteCodeIsRejected) {
  for (const char* text : {"%", "a%", "%2", "a%2", "%2g", "%g2", "%%20", "% 20", "%-1", "%0x"}) {
    EXPECT_FALSE(percent_decoded(text)) << text;
  }
}

}  // namespace
}  // namespace weir::base
