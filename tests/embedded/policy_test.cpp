// Policies of the public API: three formats, and the messages for mistakes.
#include <filesystem>
#include <fstream>

#include "tests/embedded/embedded_fixture.h"
#include "tests/temporary_folder.h"

namespace weir::embedded {
namespace {

TEST(EmbeddedPolicy, AllMistakesAreReportedWithTheirPositions) {
  const auto policy = Policy::parse(R"(version: 1
limits:
  - name: a
    consumer_key: ip
    algorithm: token_buket
    rate: 10/min
  - name: b
    consumer_key: ip
    algorithm: gcra
    rate: ten
)",
                                    "limits.yaml");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().where, "limits.yaml:5:16");
  const std::string message = policy.error().message();
  EXPECT_NE(message.find("did you mean 'token_bucket'"), std::string::npos) << message;
  EXPECT_NE(message.find("\nlimits.yaml:10:11: "), std::string::npos) << message;
}

TEST(EmbeddedPolicy, TextThatIsNoYamlIsAnErrorAndNotAnException) {
  for (const std::string_view text : {"", "{", "- a\n- b\n", "\x01", "limits: [[[[", "swagger: '2.0'"}) {
    const auto policy = Policy::parse(text, "p");
    ASSERT_FALSE(policy) << text;
    EXPECT_TRUE(policy.error().where.starts_with("p:")) << policy.error().where;
    EXPECT_FALSE(policy.error().what.empty());
  }
}

TEST(EmbeddedPolicy, ErrorsHaveTheFileName) {
  const TemporaryFolder folder;
  const auto missing = Policy::load(folder.path() / "none.yaml");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().where.find("none.yaml"), std::string::npos);
  const auto path = folder.path() / "policy.yaml";
  std::ofstream(path) << "version: 1\nlimits:\n  - { name: a, consumer_key: ip, algorithm: gcra, rate: ten }\n";
  const auto wrong = Policy::load(path);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where, path.string() + ":3:57");
}

TEST(EmbeddedPolicy, WhatIsProbablyNotMeantIsAWarning) {
  const Policy sound =
      policy_of("{version: 1, limits: [{name: a, consumer_key: ip, algorithm: gcra, rate: 10/s, burst: 20}]}");
  EXPECT_TRUE(sound.warnings().empty());
  const Policy odd = policy_of(R"(
version: 1
limits:
  - { name: a, consumer_key: "header:X-Name", missing: share, algorithm: fixed_window, rate: 10/min }
)");
  ASSERT_EQ(odd.warnings().size(), 1U);
  EXPECT_TRUE(odd.warnings()[0].where.starts_with("policy.yaml:4:")) << odd.warnings()[0].message();
  EXPECT_NE(odd.warnings()[0].what.find("which any client can choose"), std::string::npos);
}

TEST_F(EmbeddedTest, OpenApiDocumentLimitsItsOperations) {
  load(R"(
openapi: 3.0.3
info: { title: t, version: "1" }
paths:
  /pets/{id}:
    get:
      x-rate-limit: { consumer_key: ip, algorithm: fixed_window, rate: 2/min }
      responses: { "200": { description: ok } }
)");
  EXPECT_EQ(passing("/pets/7", 5), 2);
  EXPECT_EQ(send("/pets/8").route, "GET /pets/{id}");
  EXPECT_EQ(send("/others").reason, Reason::uncovered);
}

TEST_F(EmbeddedTest, DirectoryOfRatelimitIsReadAsOnePolicy) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "a.yaml")
      << "domain: a\ndescriptors:\n  - { key: to, rate_limit: { unit: minute, requests_per_unit: 1 } }\n";
  std::ofstream(folder.path() / "b.yaml")
      << "domain: b\ndescriptors:\n  - { key: to, rate_limit: { unit: minute, requests_per_unit: 2 } }\n";
  const auto policy = Policy::load(folder.path());
  ASSERT_TRUE(policy) << policy.error().message();
  auto engine = Engine::create(*policy, {.clock = clock_});
  ASSERT_TRUE(engine);
  const DescriptorEntry to{"to", "alice"};
  const Descriptor descriptor{{&to, 1}};
  for (const auto& [domain, expected] : {std::pair{"a", 1}, std::pair{"b", 2}}) {
    int passed = 0;
    for (int i = 0; i < 4; ++i) passed += engine->evaluate_descriptors(domain, {&descriptor, 1}) ? 1 : 0;
    EXPECT_EQ(passed, expected) << domain;
  }
}

}  // namespace
}  // namespace weir::embedded
