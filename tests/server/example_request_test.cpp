// The example request of a new server is covered by its policy.
#include "server/example_request.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "policy/load.h"
#include "server/sources.h"

namespace weir::server {
namespace {

std::string example(std::string_view policy) {
  const policy::Loaded loaded = policy::load_text(policy, "policy.yaml");
  EXPECT_TRUE(loaded.ruleset);
  const auto matcher = match::Matcher::create(loaded.ruleset);
  EXPECT_TRUE(matcher);
  const auto request = example_request(**matcher);
  return request ? request->path + " " + request->body : "";
}

std::string limit(std::string_view fields) {
  return "version: 1\nlimits:\n  - {name: a, algorithm: gcra, rate: 1/s, " + std::string(fields) + "}\n";
}

TEST(ExampleRequest, IsCoveredByTheDefaultPolicy) {
  EXPECT_EQ(example(default_policy), R"(/v1/check {"path": "/hello", "user": "alice"})");
}

TEST(ExampleRequest, IsARouteThatIsLimited) {
  EXPECT_EQ(example(limit("consumer_key: ip, routes: [POST /login]")),
            R"(/v1/check {"method": "POST", "path": "/login", "ip": "192.0.2.7"})");
  EXPECT_EQ(example(limit("consumer_key: ip, routes: ['/a%20b/{id}/**']")),
            R"(/v1/check {"path": "/a%20b/1/x", "ip": "192.0.2.7"})");
}

TEST(ExampleRequest, IsByACallerWhoIsLimited) {
  EXPECT_EQ(example(limit("consumer_key: ip, when: anonymous")), R"(/v1/check {"path": "/hello", "ip": "192.0.2.7"})");
  EXPECT_EQ(example(limit("consumer_key: api_key")), R"(/v1/check {"path": "/hello", "api_key": "key-1"})");
}

TEST(ExampleRequest, IsADescriptorWhereThePolicyHasNothingElse) {
  EXPECT_EQ(example("domain: edge\ndescriptors:\n  - key: plan\n    value: free\n    descriptors:\n"
                    "      - { key: remote_address, rate_limit: { unit: second, requests_per_unit: 1 } }\n"),
            R"(/json {"domain": "edge", "descriptors": [{"entries": [{"key": "plan", "value": "free"}, )"
            R"({"key": "remote_address", "value": "192.0.2.7"}]}]})");
}

TEST(ExampleRequest, HasTheHeaderThatALimitIsKeyedBy) {
  EXPECT_EQ(example(limit("consumer_key: 'header:x-tenant'")),
            R"(/v1/check {"path": "/hello", "user": "alice", "headers": {"x-tenant": "x"}})");
}

TEST(ExampleRequest, HasEveryIdentityThatALimitRequires) {
  EXPECT_EQ(example(limit("consumer_key: [user, ip]") +
                    "  - {name: b, algorithm: gcra, rate: 1/s, consumer_key: api_key, missing: deny}\n"),
            R"(/v1/check {"path": "/hello", "api_key": "key-1"})");
  EXPECT_EQ(example(limit("consumer_key: user, missing: deny") +
                    "  - {name: b, algorithm: gcra, rate: 1/s, consumer_key: api_key, missing: deny}\n"),
            R"(/v1/check {"path": "/hello", "user": "alice", "api_key": "key-1"})");
}

TEST(ExampleRequest, HasAnAddressThatALimitIsFor) {
  EXPECT_EQ(example(limit("consumer_key: ip, when: {ip_in: [10.0.0.0/8]}")),
            R"(/v1/check {"path": "/hello", "ip": "10.0.0.0"})");
}

TEST(ExampleRequest, HasATierThatIsLimited) {
  EXPECT_EQ(
      example("version: 1\ntiers: {default: staff, names: [staff, free], from: {header: X-Tier}}\nlimits:\n"
              "  - {name: a, algorithm: gcra, rate: 1/s, consumer_key: user, tier_overrides: {staff: unlimited}}\n"),
      R"(/v1/check {"path": "/hello", "user": "alice", "tier": "free"})");
}

TEST(ExampleRequest, TakesAReceiptWhereALimitIsOnConcurrency) {
  EXPECT_EQ(example("version: 1\nlimits: [{name: a, algorithm: concurrency, limit: 2, consumer_key: user}]\n"),
            R"(/v1/check {"path": "/hello", "user": "alice", "reserve": true})");
}

TEST(ExampleRequest, IsNoneWhereNothingIsLimited) {
  EXPECT_EQ(example("version: 1\ntiers: {default: all, names: [all], from: {header: X-Tier}}\nlimits:\n"
                    "  - {name: a, algorithm: gcra, rate: 1/s, consumer_key: user, tier_overrides: {all: banned}}\n"),
            "");
}

}  // namespace
}  // namespace weir::server
