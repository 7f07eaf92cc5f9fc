// Structured Field Lists: the grammar of RFC 9651, type by type.
#include "wire/fields/structured_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::wire {
namespace {

// Reads to the end. Empty if the field is rejected.
std::optional<std::vector<BareItem>> members_of(std::string_view field) {
  ListReader list(field);
  std::vector<BareItem> members;
  while (const auto member = list.next_member()) members.push_back(*member);
  return list.well_formed() ? std::optional{members} : std::nullopt;
}

bool accepts(const std::string& field) {
  return members_of(field).has_value();
}

BareItem integer(std::int64_t value) {
  return {.type = BareItem::Type::integer, .integer = value};
}

BareItem string(std::string_view text) {
  return {.type = BareItem::Type::string, .text = text};
}

BareItem bytes(std::string_view base64) {
  return {.type = BareItem::Type::byte_sequence, .text = base64};
}

TEST(StructuredList, ReadsEachMemberWithItsType) {
  const std::vector<BareItem> expected{string("a"), integer(-7), bytes("AQID"), BareItem{}, BareItem{}};
  EXPECT_EQ(members_of("  \"a\" ,\t-7,:AQID:, tok/en , ?1  "), expected);
}

TEST(StructuredList, EmptyFieldHasNoMembers) {
  EXPECT_EQ(members_of(""), std::vector<BareItem>{});
  EXPECT_EQ(members_of("   "), std::vector<BareItem>{});
}

TEST(StructuredList, ParametersFollowTheirMember) {
  ListReader list("\"a\";x=1; y;*z-_.9=\"b\", \"c\"");
  ASSERT_EQ(list.next_member(), string("a"));
  const auto x = list.next_parameter();
  const auto y = list.next_parameter();
  const auto z = list.next_parameter();
  ASSERT_TRUE(x && y && z);
  EXPECT_EQ(x->key, "x");
  EXPECT_EQ(x->value, integer(1));
  EXPECT_EQ(y->key, "y");
  EXPECT_EQ(y->value, BareItem{});
  EXPECT_EQ(z->key, "*z-_.9");
  EXPECT_EQ(z->value, string("b"));
  EXPECT_FALSE(list.next_parameter());
  EXPECT_EQ(list.next_member(), string("c"));
  EXPECT_FALSE(list.next_member());
  EXPECT_TRUE(list.well_formed());
}

TEST(StructuredList, SkippedParametersMustBeWellFormed) {
  EXPECT_TRUE(accepts("\"a\";x=1, \"b\""));
  EXPECT_FALSE(accepts("\"a\";x=, \"b\""));
}

TEST(StructuredList, NothingIsReadAfterAnError) {
  ListReader list("1, ), 2;a=1");
  EXPECT_EQ(list.next_member(), integer(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(list.next_member());
    EXPECT_FALSE(list.next_parameter());
    EXPECT_FALSE(list.well_formed());
  }
}

struct Case {
  const char* what;
  std::vector<std::string> accepted;
  std::vector<std::string> refused;
};

void PrintTo(const Case& row, std::ostream* out) {
  *out << row.what;
}

class StructuredListGrammar : public testing::TestWithParam<Case> {};

TEST_P(StructuredListGrammar, AcceptsExactlyWhatTheRfcDoes) {
  for (const std::string& field : GetParam().accepted) EXPECT_TRUE(accepts(field)) << field;
  for (const std::string& field : GetParam().refused) EXPECT_FALSE(accepts(field)) << field;
}

INSTANTIATE_TEST_SUITE_P(
    EachProduction, StructuredListGrammar,
    testing::Values(
        Case{"Separators",
             {"1,2", "1 ,2", "1\t,\t2", "1 "},
             {",", "1,", "1, ", ",1", "1,,2", "1 2", "\t1", "1;", ";a", "1 ;a", "1\n"}},
        Case{"Keys",
             {"1;a", "1;a=2;a=3", "1;  a", "1;*", "1;a1_-.*=2"},
             {"1;A", "1;1a", "1;_a", "1;\ta", "1;a =2", "1;a= 2", "1;=2", "1;a=", "1;a;", "1;a==2"}},
        Case{"Integers",
             {"0", "-0", "007", "999999999999999", "-999999999999999"},
             {"-", "--1", "+1", "1000000000000000", "-1000000000000000", "1a", "- 1"}},
        Case{"Decimals",
             {"1.0", "-1.5", "999999999999.999", "0.001"},
             {"1.", ".5", "1.2345", "1000000000000.0", "1.-1", "1.2.3", "1..2"}},
        Case{"Strings",
             {R"("")", R"("a b~!")", R"("\"")", R"("\\")"},
             {R"(")", R"("a)", R"("\)", R"("\a")", R"("\")", "\"\t\"", "\"\x7f\"", "\"\xc3\xa9\"", "'a'",
              std::string("\"\0\"", 3)}},
        Case{"Tokens", {"a", "A1", "*", "a:b/c", "a!#$%&'*+-.^_`|~"}, {"a(b", "a\"b", "!a", "a@b", "a[", "\xc3\xa9"}},
        Case{"ByteSequences",
             {"::", ":YQ==:", ":YWI=:", ":YWJj:", ":YQ:", ":YWI:", ":+/+/:"},
             {":", ":YQ==", ":Y:", ":YWJjZ:", ":Y===:", ":YQ=:", ":====:", ":=:", ":Y Q:", ":Y=Q=:", ":Y-Q_:"}},
        Case{"Booleans", {"?0", "?1", "1;a=?0"}, {"?", "?2", "?true", "?01", "??1"}},
        Case{"Dates", {"@0", "@-1", "@1659578233"}, {"@", "@1.5", "@a", "@@1", "@1000000000000000"}},
        Case{"DisplayStrings",
             {R"(%"")", R"(%"a b")", R"(%"%c3%a9")", R"(%"%00")", R"(%"%22")", R"(%"%e2%82%ac%f0%9f%98%80")",
              R"(%"%ed%9f%bf")", R"(%"%f4%8f%bf%bf")", R"(%"\")"},
             {"%", "%a", R"(%")", R"(%"%)", R"(%"%a")", R"(%"%C3%A9")", R"(%"%zz")", R"(%"%c3")", R"(%"%c3a")",
              R"(%"%a9")", R"(%"%c0%af")", R"(%"%c1%bf")", R"(%"%e0%80%80")", R"(%"%ed%a0%80")", R"(%"%f0%80%80%80")",
              R"(%"%f4%90%80%80")", R"(%"%f5%80%80%80")", R"(%"%ff")", "%\"\xc3\xa9\""}},
        Case{"InnerLists", {}, {"()", "(1 2)", "(1);a", "1;a=(2)"}},
        Case{"Openings", {}, {"=", "{", "#", "&", "\x80", "\xff", std::string("\0", 1)}}),
    [](const testing::TestParamInfo<Case>& row) { return row.param.what; });

TEST(StructuredList, FieldBeyondTheMaximumLengthIsRejected) {
  const std::string spaces(ListReader::max_length - 1, ' ');
  EXPECT_TRUE(accepts(spaces + "1"));
  EXPECT_FALSE(accepts(spaces + " 1"));
}

TEST(StructuredList, TooManyMembersRejectTheField) {
  std::string field = "1";
  for (std::size_t count = 1; count < ListReader::max_members; ++count) field += ",1";
  EXPECT_TRUE(accepts(field));
  EXPECT_FALSE(accepts(field + ",1"));
}

}  // namespace
}  // namespace weir::wire
