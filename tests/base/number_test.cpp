#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace weir::base {
namespace {

TEST(Number, AllOfTheTextIsRead) {
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::int64_t>("-007"), -7);
  EXPECT_EQ(parse_number<double>("2.5e3"), 2500.0);
  for (const char* text : {"", " 1", "1 ", "+1", "1.5", "x", "-"}) {
    EXPECT_FALSE(parse_number<std::int64_t>(text)) << text;
  }
}

TEST(Number, WhatDoesNotFitIsNoNumber) {
  EXPECT_FALSE(parse_number<std::uint16_t>("65536"));
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
  EXPECT_FALSE(parse_number<std::uint64_t>("18446744073709551616"));
}

TEST(Number, OtherBasesAreReadToo) {
  EXPECT_EQ(parse_number<std::uint64_t>("fF", 16), 255U);
  EXPECT_FALSE(parse_number<std::uint64_t>("0xff", 16));
}

}  // namespace
}  // namespace weir::base
