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
  EXPECT_EQ(refusal("edgy", {{"address", "a"}}), "domain 'edgy': unknown; valid domains: edge");
  EXPECT_EQ(refusal("edge", {{"adress", "a"}, {"x", "1"}}),
            "descriptor 'adress=a + x=1': has no limit in domain 'edge'; limits exist for 'address', "
            "'address + path=/login', 'address + path=/health'");
}

TEST(UnorderedDescriptorTest, EntriesAreTakenInAnyOrderThatHasALimit) {
  constexpr auto both_ways = R"(
domain: edge
descriptors:
  - key: b
    descriptors:
      - key: a
        descriptors: [{ key: c, value: x, rate_limit: { unit: hour, requests_per_unit: 1 } }]
  - key: c
    descriptors:
      - key: a
        descriptors: [{ key: b, rate_limit: { unit: hour, requests_per_unit: 2 } }]
)";
  const auto ruleset = ruleset_of(both_ways);
  const auto found = [&](std::vector<DescriptorEntry> entries) -> std::uint64_t {
    std::string key;
    std::string again;
    const auto* const descriptor = match_unordered(ruleset->domains[0], entries, key);
    if (descriptor == nullptr) return 0;
    EXPECT_EQ(match_descriptor(ruleset->domains[0], entries, again), descriptor);
    EXPECT_EQ(key, again);
    return ruleset->limits[*descriptor->limit].live.by_tier[0]->capacity();
  };
  EXPECT_EQ(found({{"a", "1"}, {"b", "2"}, {"c", "x"}}), 1U);
  EXPECT_EQ(found({{"c", "x"}, {"b", "2"}, {"a", "1"}}), 1U);
  EXPECT_EQ(found({{"a", "1"}, {"b", "2"}, {"c", "y"}}), 2U);
  EXPECT_EQ(found({{"a", "1"}, {"b", "2"}}), 0U);
  EXPECT_EQ(found({{"a", "1"}, {"b", "2"}, {"c", "x"}, {"d", "3"}}), 0U);
  EXPECT_EQ(found({}), 0U);
}

}  // namespace
}  // namespace weir::match
