// What is proposed to those who try a server first is something that its policy limits.
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
  const ExampleRequest request = example_request(**matcher);
  return request.path + " " + request.body;
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

TEST(ExampleRequest, IsAnyWhereNothingIsKnown) {
  EXPECT_EQ(example(limit("consumer_key: 'header:x-tenant'")), R"(/v1/check {"path": "/hello", "user": "alice"})");
}

}  // namespace
}  // namespace weir::server
