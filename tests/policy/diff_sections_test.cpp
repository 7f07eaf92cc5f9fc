// Tests changes outside of limits (identity, tiers, descriptors) and the output formats.
#include <gtest/gtest.h>

#include "policy/tools/diff.h"
#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

std::string between_identities(const std::string& before, const std::string& after) {
  const std::string limits = "limits:\n- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s }\n";
  return between("version: 1\n" + before + "\n" + limits, "version: 1\n" + after + "\n" + limits);
}

TEST(Diff, SaysWhatATrustedProxyMayDo) {
  EXPECT_EQ(between_identities("identity: { trusted_proxies: [127.0.0.0/8] }",
                               "identity: { trusted_proxies: [127.0.0.0/8, 192.0.2.0/24] }"),
            "identity: trusted proxy 192.0.2.0/24 added: it can set the user, tier, cost and address of a request "
            "(different)\n");
  EXPECT_EQ(
      between_identities("identity: { trusted_proxies: [10.0.0.0/8] }", "identity: { trusted_proxies: [10.1.0.0/16] }"),
      "identity: trusted proxy 10.1.0.0/16 added, part of 10.0.0.0/8\nidentity: trusted proxy 10.0.0.0/8 removed: "
      "user, tier, cost and address in its requests are ignored, so they count as anonymous and under the proxy's own "
      "address (different)\n");
}

TEST(Diff, ComparesWhereIdentitiesComeFrom) {
  EXPECT_EQ(between_identities("", "identity: { user: { header: X-Who } }"),
            "identity: user read from x-user-id -> x-who: the old header is ignored (different)\n");
  EXPECT_EQ(between_identities("", "identity: { api_key: { header: X-Api-Key, verified: true } }"),
            "identity: api_key is now verified: only trusted proxies can set it, and it authenticates (different)\n");
  EXPECT_EQ(between_identities("", "identity: { ip: { ipv6_prefix: 48 } }"),
            "identity: ipv6_prefix 64 -> 48: more addresses share a counter (tighter)\n");
}

TEST(Diff, ADefaultTierIsTighterIfItsNumbersAre) {
  const auto policy = [](const std::string& fallback) {
    return "version: 1\ntiers: { from: { header: X-Plan }, default: " + fallback +
           ", names: [free, pro] }\nlimits:\n- { name: a, consumer_key: ip, algorithm: gcra, rate: 1/s, "
           "tier_overrides: { pro: { rate: 2/s, burst: 2 } } }\n";
  };
  EXPECT_EQ(between(policy("pro"), policy("free")), "tiers: default pro -> free (tighter)\n");
  EXPECT_EQ(between(policy("free"), policy("pro")), "tiers: default free -> pro (looser)\n");
}

std::string descriptors(const std::string& list) {
  return "domain: shop\ndescriptors:\n" + list;
}

TEST(Diff, ComparesDescriptors) {
  const std::string users = "- { key: user, rate_limit: { unit: minute, requests_per_unit: 10 } }\n";
  EXPECT_EQ(
      between(descriptors(users), descriptors("- { key: user, rate_limit: { unit: minute, requests_per_unit: 5 } }\n")),
      "domain shop: user 10/min -> 5/min (tighter)\n");
  EXPECT_EQ(between(descriptors(users), descriptors("- { key: user, rate_limit: { unlimited: true } }\n")),
            "domain shop: user 10/min -> unlimited (looser)\n");
  EXPECT_EQ(between(descriptors(users),
                    descriptors(users + "- { key: ip, rate_limit: { unit: hour, requests_per_unit: 7 } }\n")),
            "domain shop: ip added, 7/h (tighter)\n");
}

TEST(Diff, ADescriptorThatTakesRequestsFromAnotherIsDifferent) {
  const std::string users = "- { key: user, rate_limit: { unit: minute, requests_per_unit: 10 } }\n";
  EXPECT_EQ(
      between(descriptors(users),
              descriptors(users + "- { key: user, value: bob, rate_limit: { unit: minute, requests_per_unit: 5 } }\n")),
      "domain shop: user=bob added, 5/min (different)\n");
  EXPECT_EQ(
      between(descriptors(users),
              descriptors("- { key: user, shadow_mode: true, rate_limit: { unit: minute, requests_per_unit: 10 } }\n")),
      "domain shop: user no longer enforced, shadow_mode (looser)\n");
}

TEST(Diff, TellsBansQuotasAndMetadataOfDescriptors) {
  const std::string users = "- { key: user, rate_limit: { unit: minute, requests_per_unit: 10 } }\n";
  const std::string banned = "- { key: user, rate_limit: { unit: minute, requests_per_unit: 0 } }\n";
  EXPECT_EQ(between(descriptors(users), descriptors(banned)), "domain shop: user 10/min -> banned (tighter)\n");
  EXPECT_EQ(between(descriptors(banned), descriptors("- { key: user, rate_limit: { unlimited: true } }\n")),
            "domain shop: user banned -> unlimited (looser)\n");
  EXPECT_EQ(
      between(descriptors(banned), descriptors("- { key: user, rate_limit: { unit: day, requests_per_unit: 0 } }\n")),
      "domain shop: user banned per 1 min -> per 1 day\n");
  EXPECT_EQ(
      between(descriptors(users),
              descriptors("- { key: user, quota_mode: true, rate_limit: { unit: minute, requests_per_unit: 10 } }\n")),
      "domain shop: user now denies only if all quotas of a request are exceeded, quota_mode (looser)\n");
  EXPECT_EQ(between(descriptors(users),
                    descriptors(
                        "- { key: user, metadata: { a: 1 }, rate_limit: { unit: minute, requests_per_unit: 10 } }\n")),
            "domain shop: user metadata changed\n");
}

const std::vector<Change> some_changes{{"a", "1/s -> 2/s", Direction::looser},
                                       {"<b> @all", "x | `y` #1 https://z", Direction::tighter},
                                       {"tiers", "max added", Direction::neutral}};

TEST(DiffRendering, MarkdownKeepsWhatPoliciesContainAsText) {
  EXPECT_EQ(render_markdown(some_changes),
            "**1 tighter, 1 looser, 1 neutral**\n"
            "\n"
            "| limit | change | |\n"
            "|---|---|---|\n"
            "| a | 1/s -> 2/s | looser |\n"
            "| &#60;b> &#64;all | x &#124; \\`y\\` &#35;1 https&#58;//z | tighter |\n"
            "| tiers | max added |  |\n");
  EXPECT_EQ(render_markdown({}), "No changes.\n");
}

TEST(DiffRendering, JsonHasEveryChangeAndTheCounts) {
  EXPECT_EQ(render_json({some_changes.front()}),
            "{\"changes\": [{\"subject\": \"a\", \"sentence\": \"1/s -> 2/s\", \"direction\": \"looser\"}], "
            "\"tighter\": 0, \"looser\": 1, \"different\": 0, \"neutral\": 0}\n");
  EXPECT_EQ(render_json({}), "{\"changes\": [], \"tighter\": 0, \"looser\": 0, \"different\": 0, \"neutral\": 0}\n");
}

TEST(DiffRendering, TighterAndDifferentMayDenyMore) {
  EXPECT_TRUE(may_deny_more(some_changes));
  EXPECT_TRUE(may_deny_more({{"a", "b", Direction::different}}));
  EXPECT_FALSE(may_deny_more({some_changes.front(), some_changes.back()}));
}

}  // namespace
}  // namespace weir::policy
