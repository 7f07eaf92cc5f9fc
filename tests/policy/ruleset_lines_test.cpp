#include "policy/words.h"

#include <gtest/gtest.h>

#include "policy/load.h"

namespace weir::policy {
namespace {

using Lines = std::vector<std::string>;

TEST(RulesetLines, HasALineForEachLimitAndRoute) {
  const auto loaded = load_text(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: login, routes: [POST /login, POST /token], when: anonymous, consumer_key: ip, algorithm: sliding_window_log, rate: 10/min }
  - name: api
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 100/min
    burst: 20
    mode: shadow
    tier_overrides: { pro: { burst: 50 }, internal: unlimited }
    candidate: { algorithm: sliding_window_counter }
)",
                                "policy.yaml");
  ASSERT_TRUE(loaded.ruleset);
  EXPECT_EQ(
      ruleset_lines(*loaded.ruleset),
      (Lines{"login: POST /login: sliding_window_log 10/min by ip when anonymous",
             "login: POST /token: sliding_window_log 10/min by ip when anonymous",
             "api: every request: token_bucket 100/min, burst 20 by [user, ip], in shadow; pro 100/min, burst 50; "
             "internal unlimited; candidate sliding_window_counter 100/min"}));
}

TEST(RulesetLines, SaysWhoIsBanned) {
  const auto loaded = load_text(R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: closed, routes: [/internal/**], consumer_key: global, rate: 0 }
  - { name: api, consumer_key: ip, algorithm: token_bucket, rate: 300/min, burst: 20, tier_overrides: { abuser: banned } }
)",
                                "policy.yaml");
  ASSERT_TRUE(loaded.ruleset);
  EXPECT_EQ(ruleset_lines(*loaded.ruleset),
            (Lines{"closed: /internal/**: banned: denied outright by global",
                   "api: every request: token_bucket 300/min, burst 20 by ip; abuser banned"}));
}

TEST(RulesetLines, NamesTheDomainOfADescriptor) {
  const auto loaded = load_text(
      "domain: chat\ndescriptors:\n  - { key: to, rate_limit: { unit: day, requests_per_unit: 5 } }\n", "chat.yaml");
  ASSERT_TRUE(loaded.ruleset);
  EXPECT_EQ(ruleset_lines(*loaded.ruleset), (Lines{"chat/to: domain chat: fixed_window 5/day"}));
}

}  // namespace
}  // namespace weir::policy
