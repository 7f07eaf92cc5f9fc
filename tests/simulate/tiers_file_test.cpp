#include "simulate/tiers_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weir::simulate {
namespace {

const std::vector<std::string> known{"free", "pro", "internal"};

std::string mistake_in(std::string_view text) {
  const auto file = TiersFile::read(text, "tiers.csv", known);
  return file ? "none" : file.error().message();
}

TEST(TiersFile, ReturnsTheTierOfEachUser) {
  const auto file =
      TiersFile::read("user,tier\n# staff\nalice,pro\r\n\n  bob , internal \ncarol,free", "tiers.csv", known);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->size(), 3U);
  EXPECT_EQ(file->tier_of("alice"), "pro");
  EXPECT_EQ(file->tier_of("bob"), "internal");
  EXPECT_EQ(file->tier_of("carol"), "free");
  EXPECT_EQ(file->tier_of("Alice"), "");
  EXPECT_EQ(file->tier_of(""), "");
}

TEST(TiersFile, AcceptsQuotedUsers) {
  const auto file = TiersFile::read("\"Doe, Jane\",pro\n\"a \"\"b\"\"\",\"internal\"\n", "tiers.csv", known);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->tier_of("Doe, Jane"), "pro");
  EXPECT_EQ(file->tier_of("a \"b\""), "internal");
}

TEST(TiersFile, ErrorsHaveTheLineNumber) {
  const std::string form = "not a user and a tier; write alice,pro and quote a field that contains a comma";
  EXPECT_EQ(mistake_in("alice,pro\nbob\n"), "tiers.csv:2: " + form);
  EXPECT_EQ(mistake_in("alice,pro,x\n"), "tiers.csv:1: " + form);
  EXPECT_EQ(mistake_in("alice,\n"), "tiers.csv:1: " + form);
  EXPECT_EQ(mistake_in(",pro\n"), "tiers.csv:1: " + form);
  EXPECT_EQ(mistake_in("\"alice,pro\n"), "tiers.csv:1: " + form);
  EXPECT_EQ(mistake_in("\"alice\"x,pro\n"), "tiers.csv:1: " + form);
  EXPECT_EQ(mistake_in("alice,prro\n"), "tiers.csv:1: unknown tier 'prro', did you mean 'pro'?");
  EXPECT_EQ(mistake_in("alice,platinum\n"), "tiers.csv:1: unknown tier 'platinum'; valid tiers: free, pro, internal");
  EXPECT_EQ(mistake_in("alice,pro\nbob,pro\nalice,free\n"),
            "tiers.csv:3: duplicate user 'alice': the first is in line 1");
  EXPECT_EQ(mistake_in("# nobody\nuser,tier\n"), "tiers.csv: no users; write lines such as alice,pro");
}

}  // namespace
}  // namespace weir::simulate
