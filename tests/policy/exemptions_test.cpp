// Tests lint, diff and digest of named identities, conditions, exemptions and max_reserve.
#include <gtest/gtest.h>

#include <string>

#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

const std::string plain_limit = "limits:\n- { name: a, consumer_key: ip, algorithm: token_bucket, rate: 10/s }\n";

std::string with_root(const std::string& root) {
  return "version: 1\n" + root + "\n" + plain_limit;
}

std::string with_field(const std::string& field) {
  return "version: 1\nlimits:\n- { name: a, consumer_key: ip, algorithm: token_bucket, rate: 10/s" + field + " }\n";
}

std::string keyed_by(const std::string& identity, const std::string& key) {
  return "version: 1\nidentity: { " + identity + " }\nlimits:\n- { name: d, consumer_key: " + key +
         ", algorithm: gcra, rate: 20/h }\n";
}

TEST(Lint, AcceptsAVerifiedIdentityAsKey) {
  EXPECT_EQ(problems_of(keyed_by("organization: { header: X-Org-Id }", "[organization, ip]")), Lines{});
}

TEST(Lint, WarnsOfAnIdentityThatAnyClientCanChoose) {
  EXPECT_EQ(
      problems_of(keyed_by("device: { header: X-Device, verified: false }", "device")),
      Lines{"4:28: 'd' is keyed by device, which any client can choose: a client that sends a new value with each "
            "request bypasses it; remove 'verified: false' in identity.device if the proxy sets the header, or "
            "add a limit by ip or user on the same routes"});
}

TEST(Lint, SuggestsTheIdentityOfAHeader) {
  EXPECT_EQ(problems_of(keyed_by("organization: { header: X-Org-Id }", "'header:X-Org-Id'")),
            Lines{"4:28: 'd' is keyed by header:x-org-id, which any client can choose: a client that sends a new value "
                  "with each request bypasses it; use organization, which is read from trusted proxies only"});
}

TEST(Lint, DoesNotTakeAnExceptedRouteForCovered) {
  const std::string by_user = "- { name: b, routes: [/api/**], consumer_key: user, algorithm: gcra, rate: 5/s }\n";
  const auto policy = [&](const std::string& except) {
    return "version: 1\nlimits:\n" + by_user + "- { name: a, when: anonymous, " + except +
           "consumer_key: ip, algorithm: gcra, rate: 10/s }\n";
  };
  EXPECT_EQ(problems_of(policy("")), Lines{});
  EXPECT_EQ(problems_of(policy("except: [/api/free], ")),
            Lines{"3:47: 'b' does not cover requests without user, and no other limit covers them on /api/**: set "
                  "'missing: share' or 'missing: deny', or add a limit by ip"});
}

TEST(Diff, ComparesNamedIdentities) {
  const std::string organization = "identity: { organization: { header: X-Org-Id } }";
  EXPECT_EQ(between(with_root(""), with_root(organization)), "identity: organization added, read from x-org-id\n");
  EXPECT_EQ(between(with_root(organization), with_root("identity: { organization: { header: X-Tenant } }")),
            "identity: organization read from x-org-id -> x-tenant: the old header is ignored (different)\n");
  EXPECT_EQ(
      between(with_root(organization), with_root("identity: { organization: { header: X-Org-Id, verified: false } }")),
      "identity: organization is no longer verified: any client can choose it (different)\n");
}

TEST(Diff, AnExemptionIsLooser) {
  const std::string exempt = "exempt: { addresses: [192.0.2.0/24], routes: [GET /healthz] }";
  EXPECT_EQ(between(with_root(""), with_root(exempt)),
            "exempt: address 192.0.2.0/24 added: no limit covers it (looser)\n"
            "exempt: route GET /healthz added: no limit covers it (looser)\n");
  EXPECT_EQ(between(with_root(exempt), with_root("exempt: { routes: [GET /healthz] }")),
            "exempt: address 192.0.2.0/24 removed: limits cover it again (tighter)\n");
}

TEST(Diff, AnExceptedRouteIsLooser) {
  EXPECT_EQ(between(with_field(""), with_field(", except: [GET /healthz]")), "a: except GET /healthz added (looser)\n");
  EXPECT_EQ(between(with_field(", except: [/public/**]"), with_field("")), "a: except /public/** removed (tighter)\n");
  EXPECT_EQ(between(with_field(", except: [/public/**]"), with_field(", except: [/public/**, /public/a]")),
            "a: except /public/a added, excluded anyway\n");
}

TEST(Diff, ASmallerReservationIsTighter) {
  EXPECT_EQ(between(with_field(""), with_field(", max_reserve: 5")), "a: max_reserve none -> 5 (tighter)\n");
  EXPECT_EQ(between(with_field(", max_reserve: 5"), with_field(", max_reserve: 6")),
            "a: max_reserve 5 -> 6 (looser)\n");
}

TEST(Diff, KnowsWhichConditionIncludesTheOther) {
  const auto changed = [](const std::string& before, const std::string& after) {
    const std::string text = between(with_field(", when: " + before), with_field(", when: " + after));
    return text.substr(text.rfind('('));
  };
  EXPECT_EQ(changed("anonymous", "{ any: [anonymous, { ip_in: [10.0.0.0/8] }] }"), "(tighter)\n");
  EXPECT_EQ(changed("{ ip_in: [10.0.0.0/8] }", "{ all: [anonymous, { ip_in: [10.0.0.0/8] }] }"), "(looser)\n");
  EXPECT_EQ(changed("{ identity_in: { user: [a] } }", "{ identity_in: { user: [a, b] } }"), "(tighter)\n");
  EXPECT_EQ(changed("{ identity_in: { user: [a] } }", "{ identified_by: user }"), "(tighter)\n");
  EXPECT_EQ(changed("{ not: { identity_in: { user: [a] } } }", "{ not: { identity_in: { user: [a, b] } } }"),
            "(looser)\n");
  EXPECT_EQ(changed("anonymous", "{ ip_in: [10.0.0.0/8] }"), "(different)\n");
}

TEST(Digest, DependsOnEveryNewPart) {
  const std::string plain = loaded(with_field(""))->digest;
  EXPECT_EQ(plain, loaded(with_root(""))->digest);
  for (const std::string& text :
       {with_root("identity: { organization: { header: X-Org-Id } }"), with_root("exempt: { routes: [/a] }"),
        with_root("exempt: { addresses: [192.0.2.0/24] }"), with_root("exempt: { identities: { user: [a] } }"),
        with_field(", except: [/a]"), with_field(", max_reserve: 5"), with_field(", when: { identified_by: user }"),
        with_field(", when: { not: { identified_by: user } }")}) {
    EXPECT_NE(loaded(text)->digest, plain) << text;
  }
  EXPECT_EQ(loaded(with_field(", when: { not: { ip_in: [10.0.0.0/8] } }"))->digest,
            loaded(with_field(", when: { ip_not_in: [10.0.0.0/8] }"))->digest);
}

}  // namespace
}  // namespace weir::policy
