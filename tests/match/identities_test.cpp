// Tests named identities: who may set them, what they are worth as keys and in conditions, and how they are looked up.
#include "match/consumer.h"
#include "match/matcher.h"
#include "tests/match/request.h"

namespace weir::match::identity_tests {
namespace {

constexpr auto b2b_policy = R"(
version: 1
identity:
  trusted_proxies: [10.0.0.0/8]
  organization: { header: X-Org-Id }
  device: { header: X-Device, verified: false }
limits:
  - { name: by-org, consumer_key: organization, algorithm: gcra, rate: 1/min }
  - { name: by-device, consumer_key: device, algorithm: gcra, rate: 1/min }
  - { name: by-both, consumer_key: [organization+user, ip], algorithm: gcra, rate: 1/min }
)";

constexpr auto client = "203.0.113.7";  // not trusted
constexpr auto proxy = "10.0.0.1";

Request from(std::string ip) {
  return Request::to("GET /").from(std::move(ip));
}

// The consumers of the limits that cover a request: `by-org: organization=acme`.
std::vector<std::string> consumers_of(const Request& request, std::string_view text = b2b_policy) {
  const auto matcher = *Matcher::create(ruleset_of(text));
  const Asked asked(request);
  MatchScratch scratch(*matcher);
  Matched matched;
  matcher->match(asked.query(), scratch, matched);
  std::vector<std::string> consumers;
  for (std::size_t i = 0; i < matched.limits.size(); ++i) {
    consumers.push_back(matcher->ruleset().limits[matched.limits[i].limit].name + ": " +
                        describe_consumer(matched.key(i)));
  }
  return consumers;
}

using Lines = std::vector<std::string>;

TEST(NamedIdentity, OfATrustedProxyIsAKey) {
  EXPECT_EQ(
      consumers_of(from(proxy).with("x-org-id", " acme ").with("X-User-Id", "ann")),
      (Lines{"by-org: organization=acme", "by-device: all without a key", "by-both: organization=acme + user=ann"}));
}

TEST(NamedIdentity, ThatAClientClaimsIsIgnoredAndNoted) {
  const Request claim = from(client).with("X-Org-Id", "acme");
  EXPECT_EQ(consumers_of(claim), (Lines{"by-device: all without a key", "by-both: ip=203.0.113.7"}));
  const Asked asked(claim);
  EXPECT_TRUE(identify(*ruleset_of(b2b_policy), asked.query()).ignored_headers);
}

TEST(NamedIdentity, ThatIsUnverifiedIsReadFromEveryClient) {
  EXPECT_EQ(consumers_of(from(client).with("X-Device", "d1")),
            (Lines{"by-device: device=d1", "by-both: ip=203.0.113.7"}));
  const Asked asked(from(client).with("X-Device", "d1"));
  EXPECT_FALSE(identify(*ruleset_of(b2b_policy), asked.query()).ignored_headers);
}

TEST(NamedIdentity, ThatIsEmptyOrDuplicatedCountsAsAbsent) {
  for (const Request& request :
       {from(proxy).with("X-Org-Id", " "), from(proxy).with("X-Org-Id", "a").with("x-ORG-id", "a")}) {
    EXPECT_EQ(consumers_of(request), (Lines{"by-device: all without a key", "by-both: ip=10.0.0.1"}));
  }
}

TEST(NamedIdentity, DiffersFromAUserAndAHeaderOfTheSameValue) {
  constexpr auto policy = R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8], organization: { header: X-Org-Id } }
limits:
  - { name: a, consumer_key: organization, algorithm: gcra, rate: 1/min }
  - { name: b, consumer_key: user, algorithm: gcra, rate: 1/min }
  - { name: c, consumer_key: "header:X-Org-Id", algorithm: gcra, rate: 1/min }
)";
  const auto matcher = *Matcher::create(ruleset_of(policy));
  const Asked asked(from(proxy).with("X-Org-Id", "acme").with("X-User-Id", "acme"));
  MatchScratch scratch(*matcher);
  Matched matched;
  matcher->match(asked.query(), scratch, matched);
  ASSERT_EQ(matched.limits.size(), 3U);
  EXPECT_NE(matched.key(0), matched.key(1));
  EXPECT_NE(matched.key(0), matched.key(2));
  std::string shared;
  append_shared_consumer(shared, matched.key(0));
  EXPECT_EQ(shared, "organization:4:acme");
}

TEST(NamedIdentity, IsReadBackFromTheTextOfAConsumer) {
  const auto ruleset = ruleset_of(b2b_policy);
  std::string key;
  for (const std::string_view text : {"organization=acme", "acme"}) {
    ASSERT_TRUE(read_consumer(ruleset->limits[0], ruleset->identity, text, key)) << text;
    EXPECT_EQ(describe_consumer(key), "organization=acme");
  }
  ASSERT_TRUE(read_consumer(ruleset->limits[2], ruleset->identity, "organization=acme + user=ann", key));
  EXPECT_EQ(describe_consumer(key), "organization=acme + user=ann");
  EXPECT_EQ(consumer_form(ruleset->limits[2]), "organization=... + user=... or ip=...");
  const auto given = given_parts(ruleset->identity, "user=ann + organization=acme");
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[1].value, "acme");
  EXPECT_EQ(consumer_by(ruleset->limits[2], given), "organization=acme + user=ann");
}

TEST(IdentityLookup, FindsEveryIdentityByName) {
  const auto ruleset = ruleset_of(b2b_policy);
  const Asked asked(from(proxy).with("X-Org-Id", "acme").with("X-User-Id", "ann").with("X-Api-Key", "k"));
  const Caller caller = identify(*ruleset, asked.query());
  const auto find = [&](std::string_view name) {
    return std::string(identity_of(ruleset->identity, caller, asked.query(), name).text);
  };
  EXPECT_EQ(find("user"), "ann");
  EXPECT_EQ(find("api_key"), "k");
  EXPECT_EQ(find("organization"), "acme");
  EXPECT_EQ(find("device"), "");
  EXPECT_EQ(find("x-org-id"), "") << "a header is not an identity";
}

TEST(IdentityLookup, SaysWhenTheValueIsAmbiguous) {
  const auto ruleset = ruleset_of(b2b_policy);
  const Asked asked(from(proxy).with("X-Org-Id", "acme").with("X-Org-Id", "globex").with("X-User-Id", ""));
  const Caller caller = identify(*ruleset, asked.query());
  EXPECT_TRUE(identity_of(ruleset->identity, caller, asked.query(), "organization").is_ambiguous);
  EXPECT_TRUE(identity_of(ruleset->identity, caller, asked.query(), "user").is_ambiguous);
  EXPECT_FALSE(identity_of(ruleset->identity, caller, asked.query(), "device").is_ambiguous);
  const Asked claimed(from(client).with("X-Org-Id", "acme").with("X-Org-Id", "globex"));
  const Caller stranger = identify(*ruleset, claimed.query());
  EXPECT_FALSE(identity_of(ruleset->identity, stranger, claimed.query(), "organization").is_ambiguous)
      << "a client that is not a proxy has no organization, whatever it sends";
}

}  // namespace
}  // namespace weir::match::identity_tests
