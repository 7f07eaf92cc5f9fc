#include "frontend/http_router.h"

#include <gtest/gtest.h>

namespace weir::frontend {
namespace {

using Segments = std::vector<std::string>;
using Parameters = std::vector<std::pair<std::string, std::string>>;

TEST(Target, IsReadInSegmentsAndParameters) {
  struct Row {
    std::string_view target;
    Segments segments;
    Parameters parameters;
  };
  const std::vector<Row> rows = {
      {"/", {""}, {}},
      {"/v1/status", {"v1", "status"}, {}},
      {"/v1/status/", {"v1", "status", ""}, {}},
      {"//v1", {"", "v1"}, {}},
      {"*", {"*"}, {}},
      {"/a%2Fb/c%20d", {"a/b", "c d"}, {}},
      {"/a+b", {"a+b"}, {}},
      {"/%25%32%35", {"%25"}, {}},
      {"/x?tier=pro", {"x"}, {{"tier", "pro"}}},
      {"/x?a=1&b=%26%3d&c", {"x"}, {{"a", "1"}, {"b", "&="}, {"c", ""}}},
      {"/x?a=b=c", {"x"}, {{"a", "b=c"}}},
      {"/x?a=1?/2", {"x"}, {{"a", "1?/2"}}},
      {"/x?", {"x"}, {}},
      {"/x?&&", {"x"}, {}},
      {"http://weir.example:8089/v1/status?a=1", {"v1", "status"}, {{"a", "1"}}},
      {"http://weir.example", {""}, {}},
      {"http://weir.example?a=1", {""}, {{"a", "1"}}},
      {"/see/http://other", {"see", "http:", "", "other"}, {}},
  };
  for (const Row& row : rows) {
    const auto target = read_target(row.target);
    ASSERT_TRUE(target) << row.target;
    EXPECT_EQ(target->segments, row.segments) << row.target;
    EXPECT_EQ(target->parameters, row.parameters) << row.target;
  }
}

TEST(Target, WithAPercentSignOnItsOwnIsRefused) {
  for (const auto* target : {"/%", "/%2", "/%2g", "/%g2", "/a%", "/x?%=1", "/x?a=%2", "/%%20"}) {
    EXPECT_FALSE(read_target(target)) << target;
  }
}

}  // namespace
}  // namespace weir::frontend
