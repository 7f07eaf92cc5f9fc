#include "text/decimal.h"

#include <gtest/gtest.h>

namespace weir::text {
namespace {

TEST(Decimal, IsExactAndHasNoZerosAtTheEnd) {
  struct Row {
    std::uint64_t number;
    unsigned places;
    const char* text;
  };
  for (const Row& row : {Row{0, 0, "0"}, Row{0, 6, "0"}, Row{7, 0, "7"}, Row{2'500'000, 6, "2.5"},
                         Row{1, 6, "0.000001"}, Row{1'000'000, 6, "1"}, Row{10'020'030, 6, "10.02003"},
                         Row{100, 9, "0.0000001"}, Row{UINT64_MAX, 9, "18446744073.709551615"}}) {
    std::string text;
    append_decimal(text, row.number, row.places);
    EXPECT_EQ(text, row.text);
  }
}

}  // namespace
}  // namespace weir::text
