#include "match/descriptors.h"

#include "tests/match/request.h"

namespace weir::match {
namespace {

constexpr auto descriptors = R"(
domain: edge
descriptors:
  - key: address
    rate_limit: { unit: hour, requests_per_unit: 2 }
    descriptors:
      - { key: path, value: /login, rate_limit: { unit: hour, requests_per_unit: 1 } }
      - { key: path, value: /health, rate_limit: { unlimited: true } }
)";

TEST(DescriptorNameTest, WhatHasNoLimitIsToldWhatHas) {
  const auto ruleset = ruleset_of(descriptors);
  std::string key;
  const auto refusal = [&](std::string_view domain, const std::vector<DescriptorEntry>& entries) {
    const auto found = find_descriptor(*ruleset, {domain, entries}, key);
    return found ? "" : found.error().message();
  };
  EXPECT_EQ(refusal("edge", {{"address", "a"}}), "");
  EXPECT_EQ(refusal("edgy", {{"address", "a"}}), "domain 'edgy': is not in the policy; there is edge");
  EXPECT_EQ(refusal("edge", {{"adress", "a"}, {"x", "1"}}),
            "descriptor 'adress=a + x=1': has no limit in domain 'edge'; there are limits for 'address', "
            "'address + path=/login', 'address + path=/health'");
}

}  // namespace
}  // namespace weir::match
