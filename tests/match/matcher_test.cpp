// Tests which limits cover a query, for which consumer and cost, and why the others do not.
#include "match/matcher.h"

#include <string>
#include <utility>
#include <vector>

#include "match/consumer.h"
#include "tests/match/request.h"

namespace weir::match {
namespace {

// A matcher and its last result.
class Matching {
 public:
  explicit Matching(std::string_view text) : matcher_(*Matcher::create(ruleset_of(text))), scratch_(*matcher_) {}

  const Matched& match(const Request& request) {
    matcher_->match(asked_.emplace(request).query(), scratch_, matched_);
    return matched_;
  }

  // The names of the limits that cover a request, in the order of the matcher.
  std::vector<std::string> covering(const Request& request) {
    std::vector<std::string> names;
    for (const MatchedLimit& each : match(request).limits) names.push_back(name_of(each.limit));
    return names;
  }

  std::vector<std::pair<std::string, Exemption>> exempt(const Request& request) {
    std::vector<std::pair<std::string, Exemption>> exempt;
    for (const Matched::Exempt& each : match(request).exempt) exempt.emplace_back(name_of(each.limit), each.why);
    return exempt;
  }

  std::string denied_by(const Request& request) {
    const std::uint32_t limit = match(request).denied_by;
    return limit == no_limit ? "" : name_of(limit);
  }

  const Matcher& operator*() const { return *matcher_; }

 private:
  std::string name_of(std::uint32_t limit) const { return matcher_->ruleset().limits[limit].name; }

  std::shared_ptr<const Matcher> matcher_;
  MatchScratch scratch_;
  std::optional<Asked> asked_;
  Matched matched_;
};

using Names = std::vector<std::string>;

constexpr auto shop = R"(
version: 1
tiers: { names: [default, internal, blocked] }
limits:
  - { name: login, routes: [POST /login], when: anonymous, consumer_key: ip, algorithm: gcra, rate: 10/min }
  - name: api
    routes: ["/api/**", "/api/items/{id}"]
    consumer_key: user
    algorithm: gcra
    rate: 100/min
    cost: { /api/search: 5 }
    tier_overrides: { internal: unlimited, blocked: banned }
  - { name: keyed, routes: [/api/keyed], consumer_key: user, missing: deny, algorithm: gcra, rate: 1/s }
  - { name: all, consumer_key: global, algorithm: gcra, rate: 100/s, burst: 100 }
)";

TEST(MatcherTest, LimitsComeInFileOrderEachOnce) {
  Matching matching(shop);
  EXPECT_EQ(matching.covering(Request::to("POST /login")), (Names{"login", "all"}));
  EXPECT_EQ(matching.covering(Request::to("GET /api/items/7").by("alice")), (Names{"api", "all"}));
  EXPECT_EQ(matching.covering(Request::to("GET /elsewhere")), Names{"all"});
}

TEST(MatcherTest, OfSeveralRoutesOfALimitTheMostSpecificIsNamed) {
  Matching matching(shop);
  const Matched& matched = matching.match(Request::to("GET /api/items/7").by("alice"));
  EXPECT_EQ((*matching).routes_of(1)[matched.limits.at(0).route], "/api/items/{id}");
  EXPECT_EQ((*matching).labels().at(matched.label), "/api/items/{id}");
  EXPECT_EQ(matching.match(Request::to("GET /elsewhere")).label, (*matching).other_label());
}

TEST(MatcherTest, ALimitKeyedByRouteIsThereForEachRouteThatMayBeMeant) {
  Matching matching(R"(
version: 1
limits:
  - { name: by-route, routes: ["/files/**", "/other"], consumer_key: route, algorithm: gcra, rate: 1/s }
)");
  EXPECT_EQ(matching.covering(Request::to("GET /files/%2e%2e/other")), (Names{"by-route", "by-route"}));
}

TEST(MatcherTest, LimitsThatDoNotCoverSayWhy) {
  Matching matching(shop);
  using Exempt = std::vector<std::pair<std::string, Exemption>>;
  EXPECT_EQ(matching.exempt(Request::to("POST /login").by("alice")), (Exempt{{"login", Exemption::condition}}));
  EXPECT_EQ(matching.exempt(Request::to("GET /api/x")), (Exempt{{"api", Exemption::key_missing}}));
  EXPECT_EQ(matching.exempt(Request::to("GET /api/x").by("a").in_tier("internal")),
            (Exempt{{"api", Exemption::unlimited}}));
  EXPECT_EQ(matching.exempt(Request::to("GET /api/x").by("a").in_tier("blocked")),
            (Exempt{{"api", Exemption::banned}}));
}

TEST(MatcherTest, ABanAndAMissingKeyDenyWithoutBeingAsked) {
  Matching matching(shop);
  EXPECT_EQ(matching.denied_by(Request::to("GET /api/x")), "");
  EXPECT_EQ(matching.denied_by(Request::to("GET /api/x").by("a").in_tier("blocked")), "api");
  EXPECT_EQ(matching.denied_by(Request::to("GET /api/keyed")), "keyed");
  EXPECT_EQ(matching.match(Request::to("GET /api/keyed")).denied_for, Exemption::key_missing);
  EXPECT_EQ(matching.denied_by(Request::to("GET /elsewhere")), "") << "the last match is overwritten";
}

TEST(MatcherTest, TheCostIsThatOfTheRouteOfTheHeaderOrOfTheCaller) {
  Matching matching(R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
limits:
  - { name: by-route, consumer_key: global, algorithm: gcra, rate: 100/s, cost: { /search: 5 } }
  - { name: by-header, consumer_key: global, algorithm: gcra, rate: 100/s, cost: "header:X-Cost", max_cost: 50 }
  - { name: by-caller, consumer_key: global, algorithm: gcra, rate: 100/s }
)");
  const auto costs = [&](const Request& request) {
    std::vector<std::uint64_t> all;
    for (const MatchedLimit& each : matching.match(request).limits) all.push_back(each.cost.units());
    return all;
  };
  using Costs = std::vector<std::uint64_t>;
  EXPECT_EQ(costs(Request::to("GET /search").costing(3)), (Costs{5, 1, 3}));
  EXPECT_EQ(costs(Request::to("GET /").from("10.0.0.1").with("X-Cost", "7")), (Costs{1, 7, 1}));
  EXPECT_EQ(costs(Request::to("GET /").from("10.0.0.1").with("X-Cost", "nonsense")), (Costs{1, 50, 1}));
  EXPECT_EQ(costs(Request::to("GET /").from("203.0.113.1").with("X-Cost", "7")), (Costs{1, 1, 1}));
}

TEST(MatcherTest, EachLimitHasItsKeyAndCanWriteItAgain) {
  Matching matching(shop);
  const Request request = Request::to("GET /api/x").by("alice");
  const Matched matched = matching.match(request);
  ASSERT_EQ(matched.limits.size(), 2U);
  EXPECT_NE(matched.key(0), matched.key(1));
  const Asked asked(request);
  for (std::size_t i = 0; i < matched.limits.size(); ++i) {
    std::string key;
    EXPECT_TRUE(
        (*matching).write_key(asked.query(), matched.caller, matched.limits[i].limit, matched.limits[i].route, key));
    EXPECT_EQ(key, matched.key(i));
  }
}

TEST(MatcherTest, WithoutAKeyTheCounterMayBeShared) {
  Matching matching(
      "version: 1\nlimits:\n  - { name: a, consumer_key: user, missing: share, algorithm: gcra, rate: 1/s }\n");
  EXPECT_TRUE(matching.match(Request::to("GET /")).limits.at(0).is_shared);
  EXPECT_FALSE(matching.match(Request::to("GET /").by("alice")).limits.at(0).is_shared);
}

TEST(MatcherTest, LimitsAreFoundByName) {
  Matching matching(shop);
  EXPECT_EQ((*matching).find_limit("api"), 1U);
  EXPECT_FALSE((*matching).find_limit("API").has_value());
}

TEST(MatcherTest, ARouteThatTooManyLimitsCoverIsRejected) {
  const auto limits = [](std::size_t count) {
    std::string text = "version: 1\nlimits:\n";
    for (std::size_t i = 0; i < count; ++i) {
      text +=
          "  - { name: l" + std::to_string(i) + ", routes: [/a], consumer_key: global, algorithm: gcra, rate: 1/s }\n";
    }
    return ruleset_of(text);
  };
  EXPECT_TRUE(Matcher::create(limits(max_limits)).has_value());
  EXPECT_FALSE(Matcher::create(limits(max_limits + 1)).has_value());
}

}  // namespace
}  // namespace weir::match
