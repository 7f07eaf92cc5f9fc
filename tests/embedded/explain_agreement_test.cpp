// The outcome that explain reports is the verdict of an engine without usage.
#include <string>
#include <string_view>
#include <vector>

#include "match/explain.h"
#include "policy/load.h"
#include "tests/embedded/embedded_fixture.h"

namespace weir::embedded {
namespace {

constexpr auto every_outcome = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: monthly-quota
    routes: [/quota]
    consumer_key: user
    missing: deny
    algorithm: fixed_window
    rate: 1000/month
  - { name: team, routes: [/team], consumer_key: ["user+header:X-Team", api_key], missing: deny, algorithm: gcra, rate: 1/s }
  - { name: closed, routes: [/closed], consumer_key: global, rate: 0 }
  - { name: plans, routes: [/plans], consumer_key: ip, algorithm: gcra, rate: 5/s, tier_overrides: { abuser: banned } }
  - { name: small, routes: [/small], consumer_key: ip, algorithm: token_bucket, rate: 1/s, burst: 20 }
  - { name: lenient, routes: [/lenient], consumer_key: ip, algorithm: gcra, rate: 5/s, warn_first: { count: 1, per: 1h } }
  - { name: watched, routes: [/watched], consumer_key: ip, algorithm: gcra, rate: 1/s, mode: shadow }
  - { name: sms, routes: [/sms], consumer_key: global, algorithm: leaky_bucket, rate: 10/s, queue: 100 }
  - { name: exports, routes: [/exports], consumer_key: ip, algorithm: concurrency, limit: 5 }
  - { name: one, routes: [/several], consumer_key: ip, algorithm: gcra, rate: 1/s }
  - { name: two, routes: [/several], consumer_key: global, algorithm: gcra, rate: 2/s }
)";

struct Case {
  Query query;
  std::string_view text;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {{.path = "/quota"}, "Denied (403): monthly-quota requires a user"},
      {{.path = "/quota", .user = "alice"}, "Admitted (200) unless monthly-quota is exceeded (429)"},
      {{.path = "/team"}, "Denied (403): team requires a user and the header x-team or an API key"},
      {{.path = "/closed"}, "Denied (403): closed bans every request"},
      {{.path = "/plans", .tier = "abuser"}, "Denied (403): plans bans tier 'abuser'"},
      {{.path = "/small", .cost = Cost{21}}, "Denied (429): cost 21 exceeds the maximum that small admits at once, 20"},
      {{.path = "/small", .cost = Cost{20}}, "Admitted (200) unless small is exceeded (429)"},
      {{.path = "/lenient", .cost = Cost{6}}, "Admitted (200) unless lenient is exceeded (429)"},
      {{.path = "/watched", .cost = Cost{6}}, "Admitted (200): covered in shadow mode only, by watched"},
      {{.path = "/sms"}, "Admitted (200) unless sms is exceeded (429); may wait in the queue of sms"},
      {{.path = "/several"}, "Admitted (200) unless one of one and two is exceeded (429)"},
      {{.path = "/else"}, "Admitted (200): no limit covers it"},
  };
  return all;
}

match::ExplainedOutcome outcome_of(const Query& query) {
  const auto loaded = policy::load_text(every_outcome, "p");
  EXPECT_NE(loaded.ruleset, nullptr);
  Query asked = query;
  asked.ip = "203.0.113.7";
  return match::explain(**match::Matcher::create(loaded.ruleset), asked).outcome;
}

TEST_F(EmbeddedTest, ExplainAgreesWithTheEngine) {
  for (const auto& [query, text] : cases()) {
    load(every_outcome);
    Query asked = query;
    asked.ip = "203.0.113.7";
    const Verdict verdict = engine_->evaluate(asked);
    const match::ExplainedOutcome outcome = outcome_of(query);
    EXPECT_EQ(outcome.text, text);
    EXPECT_EQ(outcome.status, verdict.status()) << text;
    EXPECT_EQ(outcome.admitted, static_cast<bool>(verdict)) << text;
  }
}

TEST_F(EmbeddedTest, ExplainAgreesWithACheckOfAConcurrencyLimit) {
  load(every_outcome);
  EXPECT_EQ(send("/exports").status(), 403U);
  EXPECT_EQ(outcome_of({.path = "/exports"}).text,
            "Admitted (200) unless exports is exceeded (429); without a receipt, exports denies it (403)");
}

}  // namespace
}  // namespace weir::embedded
