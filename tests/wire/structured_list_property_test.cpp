// The reader of Structured Field Lists accepts exactly what the grammar describes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tests/wire/structured_list_oracle.h"
#include "wire/fields/structured_list.h"

namespace weir::wire {
namespace {

bool reader_accepts(std::string_view field) {
  ListReader list(field);
  while (list.next_member()) {
    // Skips the parameters.
  }
  return list.well_formed();
}

// Fragments of lists, so that random concatenations are often well-formed or nearly so.
const std::vector<std::string> pieces{
    " ", "\t", ",",   ", ",      ";",    "; ",   "=",     "a",     "*b",       "a=1",  ";r=1",        ";t",
    "-", "1",  "42",  "1.5",     ".",    "\"",   "\"x\"", "\\",    "\\\"",     ":",    ":YQ==:",      ":YQ:",
    "=", "?1", "?0",  "@",       "@7",   "%\"",  "%c3",   "%a9",   "%e2%82",   "%ac",  "%ed%a0",      "%f0%9f",
    "(", ")",  "tok", "to:k/en", "\x7f", "\xc3", "A",     "12345", "67890123", "9999", "%\"%c3%a9\"", "\"y\";q=5"};

RC_GTEST_PROP(StructuredListProperty, AgreesWithTheGrammar, ()) {
  const auto chosen = *rc::gen::resize(12, rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)));
  std::string field;
  for (const std::string& piece : chosen) field += piece;
  RC_ASSERT(reader_accepts(field) == oracle_accepts(field));
}

TEST(StructuredListProperty, AgreesWithTheGrammarOnEverythingOneByteAwayFromAList) {
  const std::string list = "\"a\";q=5;w=1.5, \"b\\\"\";pk=:YWI=:;x=%\"%e2%82%ac\" ,?1;d=@-7,to/k:en;*z_-.9";
  ASSERT_TRUE(reader_accepts(list));
  for (std::size_t at = 0; at < list.size(); ++at) {
    std::string without = list;
    without.erase(at, 1);
    EXPECT_EQ(reader_accepts(without), oracle_accepts(without)) << without;
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = list;
      changed[at] = static_cast<char>(byte);
      std::string longer = list;
      longer.insert(at, 1, static_cast<char>(byte));
      ASSERT_EQ(reader_accepts(changed), oracle_accepts(changed)) << changed;
      ASSERT_EQ(reader_accepts(longer), oracle_accepts(longer)) << longer;
    }
  }
}

}  // namespace
}  // namespace weir::wire
