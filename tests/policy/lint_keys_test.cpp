// Tests warnings about keys, each next to a similar policy without the warning.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/policy/linted.h"

namespace weir::policy {
namespace {

const std::string by_user =
    "name: by-user, routes: [/api/**], consumer_key: user, missing: deny, algorithm: gcra, rate: 10/s";

TEST(Lint, WarnsOfIpAloneWhereAnotherLimitKnowsTheCaller) {
  EXPECT_EQ(warnings_of({by_user, "name: by-ip, routes: [GET /api/me], consumer_key: ip, algorithm: gcra, rate: 20/s"}),
            Lines{"4:55: 'by-ip' is keyed by ip alone on GET /api/me, where 'by-user' identifies the caller: all users "
                  "behind one address share a counter; add 'when: anonymous', or use consumer_key: [user, ip]"});
}

TEST(Lint, WarnsOfIpAloneOnEveryRequestToo) {
  EXPECT_EQ(warnings_of({by_user, "name: by-ip, consumer_key: ip+route, algorithm: gcra, rate: 20/s"}),
            Lines{"4:32: 'by-ip' is keyed by ip alone on /api/**, where 'by-user' identifies the caller: all users "
                  "behind one address share a counter; add 'when: anonymous', or use consumer_key: [user, ip]"});
}

TEST(Lint, WarnsOfIpAloneForTheAuthenticated) {
  EXPECT_EQ(warnings_of({"name: by-ip, when: authenticated, consumer_key: ip, algorithm: gcra, rate: 20/s"}),
            Lines{"3:53: 'by-ip' is keyed by ip alone although its callers are authenticated: all users behind one "
                  "address share a counter; use consumer_key: user"});
}

TEST(Lint, AcceptsIpForTheAnonymousOnOtherRoutesAndAsSecondChoice) {
  EXPECT_EQ(warnings_of({by_user, "name: a, when: anonymous, consumer_key: ip, algorithm: gcra, rate: 20/s"}), Lines{});
  EXPECT_EQ(warnings_of({by_user, "name: b, routes: [/login], consumer_key: ip, algorithm: gcra, rate: 20/s"}),
            Lines{});
  EXPECT_EQ(warnings_of({by_user, "name: c, consumer_key: [user, ip], algorithm: gcra, rate: 20/s"}), Lines{});
}

TEST(Lint, WarnsOfAHeaderAsKey) {
  EXPECT_EQ(warnings_of({"name: by-account, consumer_key: 'header:X-Login-Name', algorithm: gcra, rate: 20/h"}),
            Lines{"3:37: 'by-account' is keyed by header:x-login-name, which any client can choose: a client that "
                  "sends a new value with each request bypasses it; add a limit by ip or user on the same routes, or "
                  "define it in identity if the proxy sets it"});
}

const std::string by_tenant = "name: by-tenant, routes: [/api/**], consumer_key: 'header:X-Tenant', algorithm: gcra, ";

TEST(Lint, AcceptsAHeaderWhereNobodyEscapesByChangingIt) {
  for (const std::string other : {
           "consumer_key: ip",
           "when: anonymous, consumer_key: ip",
           "routes: [/api/**], consumer_key: [user, ip]",
           "consumer_key: user, missing: deny",
       }) {
    EXPECT_EQ(warnings_of({by_tenant + "rate: 20/h", "name: b, " + other + ", algorithm: gcra, rate: 1/h"}), Lines{})
        << other;
  }
  EXPECT_EQ(warnings_of({by_tenant + "rate: 20/h, when: authenticated",
                         "name: b, consumer_key: user, missing: deny, algorithm: gcra, rate: 1/h"}),
            Lines{});
}

TEST(Lint, WarnsOfAHeaderWhereTheOtherLimitDoesNotBoundIt) {
  for (const std::string other : {
           "consumer_key: global",
           "mode: shadow, consumer_key: ip",
           "routes: [/api/x], consumer_key: ip",
           "when: { ip_in: [10.0.0.0/8] }, consumer_key: ip",
           "consumer_key: 'ip+header:X-Other'",
           "consumer_key: [api_key, ip]",
           "consumer_key: user",
       }) {
    const Lines warnings =
        warnings_of({by_tenant + "rate: 20/h", "name: b, " + other + ", algorithm: gcra, rate: 1/h"});
    EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& line) {
      return line.find("'by-tenant' is keyed by header:x-tenant, which any client can choose") != std::string::npos;
    })) << other;
  }
}

TEST(Lint, NamesTheKeyThatAHeaderStandsForWhateverIsBesideIt) {
  EXPECT_EQ(warnings_of({"name: a, consumer_key: 'header:X-User-Id', algorithm: gcra, rate: 20/h",
                         "name: b, consumer_key: ip, algorithm: gcra, rate: 1/h"})
                .size(),
            1U);
}

TEST(Lint, NamesTheKeyThatAHeaderStandsFor) {
  EXPECT_EQ(warnings_of({"name: a, consumer_key: 'header:X-User-Id', algorithm: gcra, rate: 20/h"}),
            Lines{"3:28: 'a' is keyed by header:x-user-id, which any client can choose: a client that sends a new "
                  "value with each request bypasses it; use user, which is read from trusted proxies only"});
  EXPECT_EQ(warnings_of({"name: a, consumer_key: 'header:X-Forwarded-For', algorithm: gcra, rate: 20/h"}),
            Lines{"3:28: 'a' is keyed by header:x-forwarded-for, which any client can choose: a client that sends a "
                  "new value with each request bypasses it; use ip, which reads it from trusted proxies only"});
}

TEST(Lint, WarnsOfAnApiKeyThatNobodyVerifies) {
  EXPECT_EQ(warnings_of({"name: by-key, consumer_key: api_key, missing: deny, algorithm: gcra, rate: 20/h"}),
            Lines{"3:33: 'by-key' is keyed by an unverified api_key: a client that sends a new key with each request "
                  "bypasses it; set 'verified: true' in identity.api_key if the proxy verifies keys, or add a limit by "
                  "ip on the same routes"});
}

TEST(Lint, AcceptsAnApiKeyThatIsVerifiedOrHasALimitByIpBesideIt) {
  EXPECT_EQ(problems_of("version: 1\n"
                        "identity: { api_key: { header: X-Api-Key, verified: true } }\n"
                        "limits:\n"
                        "- { name: by-key, consumer_key: api_key, missing: deny, algorithm: gcra, rate: 20/h }\n"),
            Lines{});
  EXPECT_EQ(warnings_of({"name: a, routes: [/x], consumer_key: api_key, missing: deny, algorithm: gcra, rate: 20/h",
                         "name: b, when: anonymous, consumer_key: ip, algorithm: gcra, rate: 20/min"}),
            Lines{});
  EXPECT_EQ(warnings_of({"name: a, consumer_key: api_key+ip, missing: deny, algorithm: gcra, rate: 20/h"}), Lines{});
}

TEST(Lint, WarnsOfAnUnverifiedApiKeyWhenTheLimitByIpIsElsewhere) {
  EXPECT_EQ(warnings_of({"name: a, consumer_key: api_key, missing: deny, algorithm: gcra, rate: 20/h",
                         "name: b, routes: [/x], consumer_key: ip, algorithm: gcra, rate: 20/min"})
                .size(),
            1U);
}

TEST(Lint, WarnsOfAPenaltyByWhichOthersCanBeLockedOut) {
  const std::string penalty = "algorithm: gcra, rate: 20/h, penalty: { after: 5, within: 1min, block: 10min }";
  EXPECT_EQ(warnings_of({"name: a, consumer_key: 'header:X-Account', " + penalty}).back(),
            "3:86: 'a' has a penalty on header:x-account, which any client can choose: a client that sends another "
            "caller's value locks that caller out for 10 min; put the penalty on a limit by ip or user");
  EXPECT_EQ(warnings_of({"name: a, consumer_key: api_key, missing: deny, " + penalty}).back(),
            "3:90: 'a' has a penalty on api_key, which any client can choose: a client that sends another caller's "
            "value locks that caller out for 10 min; put the penalty on a limit by ip or user");
  EXPECT_EQ(warnings_of({"name: a, consumer_key: 'header:X-Account+ip', " + penalty}).size(), 1U);
  EXPECT_EQ(warnings_of({"name: a, consumer_key: ip, " + penalty}), Lines{});
}

TEST(Lint, WarnsOfARawPathAsKey) {
  for (const std::string header : {"x-original-uri", "x-forwarded-uri", "x-original-url", "x-rewrite-url"}) {
    EXPECT_EQ(warnings_of({"name: a, consumer_key: 'header:" + header + "', algorithm: gcra, rate: 20/h"}),
              Lines{"3:28: 'a' is keyed by header:" + header +
                    ", a raw path: every id and every spelling has its own counter; use route, which is the template"});
  }
  EXPECT_EQ(warnings_of({"name: a, consumer_key: ip+route, algorithm: gcra, rate: 20/h"}), Lines{});
}

TEST(Lint, WarnsOfARawPathAsDescriptor) {
  const auto descriptor = [](const std::string& fields) {
    return problems_of("domain: shop\ndescriptors:\n- { key: path" + fields +
                       ", rate_limit: { unit: minute, requests_per_unit: 10 } }\n");
  };
  EXPECT_EQ(descriptor(""), Lines{"3:3: descriptor 'path' has no value: every raw path has its own counter; list the "
                                  "paths as values, or send a route name instead"});
  EXPECT_EQ(descriptor(", value: /login"), Lines{});
}

}  // namespace
}  // namespace weir::policy
