#include "server/sources.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "policy/load.h"

namespace weir::server {
namespace {

using Lines = std::vector<std::string>;

constexpr auto policy_text = R"(version: 1
limits:
  - { name: exact, consumer_key: ip, algorithm: gcra, rate: 1/s }
  - { name: leased, consumer_key: ip, algorithm: gcra, rate: 1/s, consistency: leased }
  - { name: loose, consumer_key: ip, algorithm: fixed_window, rate: 9/min, consistency: approximate }
)";

Lines said_of(const StoreConfig& store) {
  const policy::Loaded loaded = policy::load_text(policy_text, "policy.yaml");
  Lines said;
  for (const text::Problem& problem : misfits(*loaded.ruleset, store, "policy.yaml")) {
    EXPECT_EQ(problem.severity, text::Severity::error);
    said.push_back(problem.text());
  }
  return said;
}

TEST(Consistency, IsIgnoredInThisProcess) {
  EXPECT_EQ(said_of({}), Lines{});
}

TEST(Consistency, ApproximateIsRefusedInRedis) {
  EXPECT_EQ(said_of({.redis = RedisConfig{}}),
            (Lines{"policy.yaml:5:5: limit 'loose': 'consistency: approximate' is not there yet for limits in Redis: "
                   "write 'consistency: leased' or 'exact'"}));
}

}  // namespace
}  // namespace weir::server
