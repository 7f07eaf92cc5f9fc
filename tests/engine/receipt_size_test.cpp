// The size of a receipt by the number of limits: lint (policy/tools/lint_receipts.cpp) relies on these numbers.
#include <gtest/gtest.h>

#include <string>

#include "engine/receipt.h"

namespace weir::engine {
namespace {

// The name of a consumer on a shared store that hashes consumers.
std::string hashed_consumer(int number) {
  std::string text = "#" + std::to_string(number);
  text.resize(23, 'a');
  return text;
}

bool fits(int limits, int consumers) {
  ReceiptParts receipt;
  for (int i = 0; i < limits; ++i) receipt.add("l" + std::to_string(i), {}, hashed_consumer(i % consumers), true);
  return receipt.bytes() <= ReceiptParts::max_bytes;
}

TEST(ReceiptSize, IsThatOfSevenLimitsWithConsumersOfTheirOwnOrSeventeenWithOne) {
  EXPECT_TRUE(fits(7, 7));
  EXPECT_FALSE(fits(8, 8));
  EXPECT_TRUE(fits(17, 1));
  EXPECT_FALSE(fits(18, 1));
}

}  // namespace
}  // namespace weir::engine
