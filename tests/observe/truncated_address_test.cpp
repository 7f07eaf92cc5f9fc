#include "observe/truncated_address.h"

#include <gtest/gtest.h>

namespace weir::observe {
namespace {

TEST(TruncatedAddress, KeepsTheNetworkAndLosesTheHost) {
  struct Row {
    const char* address;
    const char* text;
  };
  for (const Row& row : {Row{"203.0.113.77", "203.0.113.0/24"}, Row{"0.0.0.255", "0.0.0.0/24"},
                         Row{"2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"}, Row{"::1", "::/48"},
                         Row{"::ffff:203.0.113.77", "203.0.113.0/24"}}) {
    EXPECT_EQ(truncated(*policy::Address::parse(row.address)), row.text);
  }
}

}  // namespace
}  // namespace weir::observe
