#include "server/redis_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::server {
namespace {

TEST(Version, BeforeSixTwoIsTooOld) {
  struct Row {
    std::string version;
    bool too_old;
  };
  const std::vector<Row> rows{
      {"2.8.4", true},   {"5.0.14", true},  {"6.0.16", true}, {"6.1.240", true}, {"6.2.0", false},
      {"6.2.13", false}, {"7.0.15", false}, {"10.0", false},  {"", true},        {"unstable", true},
  };
  for (const Row& row : rows) EXPECT_EQ(is_too_old(row.version), row.too_old) << row.version;
}

}  // namespace
}  // namespace weir::server
