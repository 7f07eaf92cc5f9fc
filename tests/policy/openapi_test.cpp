// Tests OpenAPI with x-rate-limit: coverage and names of limits.
#include "policy/read/openapi/reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "policy/load.h"
#include "tests/policy/mistake_files.h"

namespace weir::policy::openapi {
namespace {

using Texts = std::vector<std::string>;

struct Reading {
  std::optional<PolicySpec> policy;
  std::string problems;
};

Reading reading(std::string_view text) {
  Problems problems("openapi.yaml");
  Reading result;
  if (const auto root = text::parse_yaml(text, problems)) result.policy = read(*root, problems);
  result.problems = problem_lines(problems.sorted());
  return result;
}

// Reads a valid document, in which `LIMIT` stands for a limit without a name.
PolicySpec policy(std::string text) {
  const std::string_view limit = "{ algorithm: gcra, rate: 10/s, consumer_key: ip }";
  for (auto at = text.find("LIMIT"); at != std::string::npos; at = text.find("LIMIT")) text.replace(at, 5, limit);
  Reading result = reading("openapi: 3.1.0\n" + text);
  EXPECT_EQ(result.problems, "");
  return result.policy ? *std::move(result.policy) : PolicySpec{};
}

// "name: ROUTE, ROUTE"
Texts limits(const PolicySpec& policy) {
  Texts texts;
  for (const LimitSpec& limit : policy.limits) {
    std::string text = limit.name.value + ":";
    for (const auto& route : limit.routes) text += (text.back() == ':' ? " " : ", ") + route.value.text();
    texts.push_back(text);
  }
  return texts;
}

Texts labels(const PolicySpec& policy) {
  Texts texts;
  for (const RouteTemplate& route : policy.labels) texts.push_back(route.text());
  return texts;
}

class OpenApiMistakes : public testing::TestWithParam<MistakeFile> {};

TEST_P(OpenApiMistakes, AreRefusedWithTheirPlace) {
  const Loaded loaded = load_text(GetParam().text, "openapi.yaml");
  EXPECT_EQ(problem_lines(loaded.problems), GetParam().expected);
  EXPECT_FALSE(loaded.ruleset);
}

INSTANTIATE_TEST_SUITE_P(EachFile, OpenApiMistakes, testing::ValuesIn(mistake_files("mistakes_openapi")),
                         [](const auto& file) { return file.param.name; });

TEST(OpenApi, LimitsWhatIsHeldAtOnceToo) {
  const PolicySpec read = policy(R"(paths:
  /exports:
    post:
      x-rate-limit: { name: running, consumer_key: ip, algorithm: concurrency, limit: 5, lease: 30s }
      responses: {}
  /chat:
    post:
      x-rate-limit: { name: tokens, consumer_key: ip, algorithm: gcra, rate: 1000/min, usage: reported }
      responses: {}
)");
  ASSERT_EQ(limits(read), (Texts{"running: POST /exports", "tokens: POST /chat"}));
  EXPECT_EQ(read.limits[0].algorithm->value, PolicyAlgorithm::concurrency);
  EXPECT_EQ(read.limits[0].numbers.limit->value, 5U);
  EXPECT_EQ(read.limits[0].numbers.lease->value, std::chrono::seconds{30});
  EXPECT_EQ(read.limits[1].usage->value, Usage::reported);
}

TEST(OpenApi, ReadsTheExampleOfThePolicyLanguage) {
  const PolicySpec read = policy(R"(paths:
  /exports:
    post:
      operationId: startExport
      x-rate-limit:
        algorithm: token_bucket
        capacity: 4
        refill_rate: 0.05                   # tokens per second: one every 20 s, sustained
        consumer_key: api_key
        tier_overrides:
          partner: { capacity: 16, refill_rate: 0.4 }
  /ping:
    get:
      operationId: ping
      x-rate-limit:
        algorithm: sliding_window
        limit: 6000
        window_seconds: 120
        consumer_key: api_key
)");
  EXPECT_EQ(limits(read), (Texts{"startExport: POST /exports", "ping: GET /ping"}));
  EXPECT_EQ(read.identity, Identity::defaults());
  EXPECT_EQ(read.limits[0].numbers.capacity->value, 4U);
  EXPECT_EQ(read.limits[0].tier_overrides[0].tier.value, "partner");
  EXPECT_EQ(read.limits[1].algorithm->value, PolicyAlgorithm::sliding_window_counter);
}

TEST(OpenApi, CoversOperationPathAndEverythingTogether) {
  EXPECT_EQ(
      limits(policy(R"(
x-rate-limit: LIMIT
paths:
  /pets:
    x-rate-limit: LIMIT
    get: { operationId: listPets, x-rate-limit: LIMIT }
    post: {}
  /pets/{id}:
    get: {}
)")),
      (Texts{"root: GET /pets, POST /pets, GET /pets/{id}", "/pets: GET /pets, POST /pets", "listPets: GET /pets"}));
}

TEST(OpenApi, NamesALimitAfterItselfItsOperationOrItsRoute) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /a:
    get: { operationId: readA, x-rate-limit: { name: own, algorithm: gcra, rate: 1/s, consumer_key: ip } }
    put: { operationId: 'write A', x-rate-limit: LIMIT }
    delete: { operationId: '', x-rate-limit: LIMIT }
  /größe/{id}:
    get: { x-rate-limit: LIMIT }
)")),
            (Texts{"own: GET /a", "write A: PUT /a", "DELETE /a: DELETE /a",
                   "GET /gr%C3%B6%C3%9Fe/{id}: GET /gr%C3%B6%C3%9Fe/{id}"}));
}

TEST(OpenApi, NumbersTheLimitsOfAListByTheirPlaceInIt) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /a:
    get:
      operationId: a
      x-rate-limit:
        - LIMIT
        - { name: own, algorithm: gcra, rate: 1/s, consumer_key: ip }
        - LIMIT
)")),
            (Texts{"a: GET /a", "own: GET /a", "a#3: GET /a"}));
}

TEST(OpenApi, KeepsAllOperationsAsLabels) {
  EXPECT_EQ(labels(policy(R"(
paths:
  /a: { get: { x-rate-limit: LIMIT }, head: {}, options: {}, trace: {}, patch: {} }
  /b:
  /c: { summary: nothing yet, description: '', parameters: [], x-internal: true }
  x-paths: {}
)")),
            (Texts{"GET /a", "OPTIONS /a", "HEAD /a", "PATCH /a", "TRACE /a"}));
}

TEST(OpenApi, WarnsOfADocumentWithoutLimits) {
  const Reading result = reading("openapi: 3.0.3\npaths:\n  /a:\n    get: {}\n");
  EXPECT_EQ(result.problems, "1:1: warning: no x-rate-limit in this document: nothing is limited");
  EXPECT_TRUE(result.policy);
}

TEST(OpenApi, TakesEveryPatchOf30And31) {
  for (const std::string version : {"3.0.0", "3.0.4", "3.1.1", "'3.1.0'", "3.0", "3.1.0-rc1"}) {
    EXPECT_EQ(reading("openapi: " + version +
                      "\npaths: { /a: { get: { x-rate-limit: { algorithm: gcra, rate: 1/s, "
                      "consumer_key: ip } } } }\n")
                  .problems,
              "")
        << version;
  }
  EXPECT_NE(reading("openapi: 3.10.0\npaths: {}\n").problems, "");
}

TEST(OpenApi, ReadsJson) {
  const Reading result = reading(R"({
	"openapi": "3.0.3",
	"info": { "title": "emoji \ud83d\ude00 and \/", "version": "1" },
	"paths": { "\/a\/{id}": { "get": { "x-rate-limit":
		{ "algorithm": "token_bucket", "capacity": 4, "refill_rate": 0.05, "consumer_key": ["user", "ip"] } } } }
}
)");
  EXPECT_EQ(result.problems, "");
  ASSERT_TRUE(result.policy);
  EXPECT_EQ(limits(*result.policy), (Texts{"GET /a/{id}: GET /a/{id}"}));
}

TEST(OpenApi, ReadsIdentityAndTiersAtTheRoot) {
  const PolicySpec read = policy(R"(
x-rate-limit-identity: { trusted_proxies: [10.0.0.0/8], api_key: { header: X-Key } }
x-rate-limit-tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
paths:
  /a: { get: { x-rate-limit: LIMIT } }
)");
  EXPECT_EQ(read.identity.api_key_header, "x-key");
  EXPECT_EQ(read.identity.trusted_proxies.size(), 1U);
  EXPECT_EQ(read.tiers.from_header->value, "x-plan");
  EXPECT_EQ(read.tiers.fallback.value, "free");
}

// Paths

TEST(OpenApi, WidensWhatIsNotAWholeSegment) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /files/{name}.json: { get: { operationId: json, x-rate-limit: LIMIT } }
  /{a}-{b}/x: { get: { operationId: pair, x-rate-limit: LIMIT } }
  /v{major}: { get: { operationId: version, x-rate-limit: LIMIT } }
  /odd/{}: { get: { operationId: odd, x-rate-limit: LIMIT } }
  /proxy/{rest+}: { get: { operationId: rest, x-rate-limit: LIMIT } }
)")),
            (Texts{"json: GET /files/{name.json}", "pair: GET /{a-b}/x", "version: GET /{vmajor}", "odd: GET /odd/{_}",
                   "rest: GET /proxy/**"}));
}

TEST(OpenApi, TakesStarsAndSpacesForThemselves) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /a/**: { get: { operationId: stars, x-rate-limit: LIMIT } }
  /a b/: { get: { operationId: space, x-rate-limit: LIMIT } }
)")),
            (Texts{"stars: GET /a/%2A%2A", "space: GET /a%20b"}));
}

TEST(OpenApi, CoversARouteOnceHoweverOftenItIsWritten) {
  const PolicySpec read = policy(R"(
x-rate-limit: LIMIT
paths:
  /files/{name}: { get: {} }
  /files/{name}.json: { get: {} }
  /Files/{id}/: { get: {} }
)");
  EXPECT_EQ(limits(read), (Texts{"root: GET /files/{name}"}));
  EXPECT_EQ(labels(read), (Texts{"GET /files/{name}"}));
}

// Servers

std::string document_at(const std::string& servers) {
  return "servers: " + servers + "\npaths: { /a: { get: { operationId: a, x-rate-limit: LIMIT } } }\n";
}

TEST(OpenApi, AddsTheBasePathsOfServers) {
  const auto routes = [](const std::string& servers) { return limits(policy(document_at(servers))); };
  EXPECT_EQ(routes("[]"), (Texts{"a: GET /a"}));
  EXPECT_EQ(routes("[{ url: 'https://api.example.com' }]"), (Texts{"a: GET /a"}));
  EXPECT_EQ(routes("[{ url: 'https://api.example.com/' }]"), (Texts{"a: GET /a"}));
  EXPECT_EQ(routes("[{ url: 'https://api.example.com:8443/v1/' }]"), (Texts{"a: GET /v1/a"}));
  EXPECT_EQ(routes("[{ url: '//api.example.com/v1' }]"), (Texts{"a: GET /v1/a"}));
  EXPECT_EQ(routes("[{ url: /v1 }]"), (Texts{"a: GET /v1/a"}));
  EXPECT_EQ(routes("[{ url: /x/../v1//b/. }]"), (Texts{"a: GET /v1/b/a"}));
  EXPECT_EQ(routes("[{ url: /v1 }, { url: 'https://b/v2' }, { url: 'https://c/v1/' }, { url: / }]"),
            (Texts{"a: GET /v1/a, GET /v2/a, GET /a"}));
}

TEST(OpenApi, TakesEveryKnownValueOfAServerVariable) {
  const auto routes = [](const std::string& servers) { return limits(policy(document_at(servers))); };
  EXPECT_EQ(routes("[{ url: 'https://{host}/{base}', variables: { host: { default: h, enum: [h, i] }, base: { default: "
                   "v2, enum: [v1, v2] } } }]"),
            (Texts{"a: GET /v2/a, GET /v1/a"}));
  EXPECT_EQ(routes("[{ url: '{server}/api', variables: { server: { default: 'https://h/eu' } } }]"),
            (Texts{"a: GET /eu/api/a"}));
  EXPECT_EQ(routes("[{ url: '/{base}', variables: { base: { default: '' } } }]"), (Texts{"a: GET /a"}));
}

TEST(OpenApi, TakesTheNearestServers) {
  const PolicySpec read = policy(R"(
servers: [{ url: /root }]
x-rate-limit: LIMIT
paths:
  /a:
    get: { operationId: a }
  /b:
    servers: [{ url: /path }]
    get: { operationId: b }
    put: { operationId: c, servers: [{ url: /operation }, { url: / }] }
)");
  EXPECT_EQ(limits(read), (Texts{"root: GET /root/a, GET /path/b, PUT /operation/b, PUT /b"}));
}

TEST(OpenApi, WarnsOfAServerRelativeToTheDocument) {
  const Reading result = reading(
      "openapi: 3.0.3\nservers: [{ url: v1 }]\npaths: { /a: { get: { x-rate-limit: { algorithm: gcra, rate: 1/s, "
      "consumer_key: ip } } } }\n");
  EXPECT_EQ(result.problems,
            "2:18: warning: server URL 'v1' is relative to the document: it is read as '/v1'; write the whole path");
  EXPECT_EQ(limits(*result.policy), (Texts{"GET /a: GET /v1/a"}));
}

TEST(OpenApi, AddsBasePathsToTheRoutesOfACost) {
  const PolicySpec read = policy(R"(
servers: [{ url: /v1 }, { url: /v2 }]
x-rate-limit: { algorithm: gcra, rate: 10/s, consumer_key: ip, cost: { POST /a: 5, '/b/{id}': 2 } }
paths:
  /a: { get: {}, post: {} }
  /b/{id}: { get: {}, servers: [{ url: /b }] }
)");
  Texts costs;
  for (const RouteCostSpec& cost : std::get<std::vector<RouteCostSpec>>(*read.limits[0].cost)) {
    costs.push_back(cost.route.value.text() + " " + std::to_string(cost.cost.value));
  }
  EXPECT_EQ(costs, (Texts{"POST /v1/a 5", "POST /v2/a 5", "/b/b/{id} 2"}));
}

TEST(OpenApi, BoundsWhatServersAndRootLimitsMultiplyTo) {
  std::string servers = "[";
  for (int i = 0; i < 101; ++i) servers += "{ url: /" + std::to_string(i) + " },";
  EXPECT_NE(reading("openapi: 3.0.3\nservers: " + servers + "]\npaths: {}\n")
                .problems.find("too many base paths: at most 100"),
            std::string::npos);
  std::string text = "openapi: 3.0.3\nx-rate-limit:\n";
  for (int i = 0; i < 1000; ++i) text += "  - { algorithm: gcra, rate: 10/s, consumer_key: ip }\n";
  text += "paths:\n";
  for (int i = 0; i < 1000; ++i) text += "  /" + std::to_string(i) + ": { get: {} }\n";
  EXPECT_NE(reading(text).problems.find("too many routes in all limits: at most 200000"), std::string::npos);
}

// References

TEST(OpenApi, FollowsReferencesToPathItems) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /a~b/%/c: { get: { operationId: first, x-rate-limit: LIMIT } }
  /second: { $ref: '#/paths/~1a~0b~1%25~1c' }
  /third: { $ref: '#/components/pathItems/third', x-rate-limit: LIMIT }
components:
  pathItems:
    third: { $ref: '#/components/pathItems/fourth', get: {} }
    fourth: { put: { x-rate-limit: LIMIT } }
)")),
            (Texts{"first: GET /a~b/%25/c, GET /second", "/third: GET /third, PUT /third", "PUT /third: PUT /third"}));
}

TEST(OpenApi, FollowsReferencesToLimits) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /a: { get: { operationId: a, x-rate-limit: { $ref: '#/components/x-rate-limits/both' } } }
  /b: { get: { operationId: b, x-rate-limit: [{ $ref: '#/components/x-rate-limits/both/1' }, LIMIT] } }
components:
  x-rate-limits:
    both: [LIMIT, LIMIT]
)")),
            (Texts{"a: GET /a", "a#2: GET /a", "b: GET /b", "b#2: GET /b"}));
}

TEST(OpenApi, MakesOneLimitOfANamedOneThatSeveralReferTo) {
  EXPECT_EQ(limits(policy(R"(
paths:
  /a: { get: { x-rate-limit: { $ref: '#/components/x-rate-limits/heavy' } } }
  /b: { get: { x-rate-limit: [LIMIT, { $ref: '#/components/x-rate-limits/heavy' }] } }
components:
  x-rate-limits:
    heavy: { name: heavy, algorithm: gcra, rate: 1/s, consumer_key: ip }
)")),
            (Texts{"heavy: GET /a, GET /b", "GET /b: GET /b"}));
}

TEST(OpenApi, RefusesALongChainOfReferences) {
  std::string text = "openapi: 3.1.0\npaths:\n  /a: { $ref: '#/components/pathItems/0' }\ncomponents:\n  pathItems:\n";
  for (int i = 0; i < 30; ++i) {
    text += "    '" + std::to_string(i) + "': { $ref: '#/components/pathItems/" + std::to_string(i + 1) + "' }\n";
  }
  EXPECT_NE(reading(text).problems.find("$ref chain is too long: at most 16"), std::string::npos);
}

// Identity

const std::string with_key = R"(paths:
  /a: { get: { x-rate-limit: { algorithm: gcra, rate: 10/s, consumer_key: api_key } } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Shop-Key }
    cookie: { type: apiKey, in: cookie, name: session }
    token: { type: http, scheme: bearer }
)";

TEST(OpenApi, ReadsTheApiKeyOfItsOnlySchemeWithAHeader) {
  EXPECT_EQ(policy(with_key).identity.api_key_header, "x-shop-key");
  const PolicySpec referred = policy(R"(paths:
  /a: { get: { x-rate-limit: LIMIT } }
components:
  securitySchemes:
    key: { $ref: '#/components/x-keys/shop' }
    elsewhere: { $ref: 'other.yaml#/key' }
  x-keys:
    shop: { type: apiKey, in: header, name: X-Shop-Key }
)");
  EXPECT_EQ(referred.identity.api_key_header, "x-shop-key");
}

TEST(OpenApi, WarnsOfASchemeWhoseHeaderNothingReads) {
  const Reading given =
      reading("openapi: 3.1.0\nx-rate-limit-identity: { user: { header: X-Shop-User } }\n" + with_key);
  EXPECT_EQ(given.problems,
            "7:5: warning: security scheme 'key' sends its key in X-Shop-Key, which is not read (api_key is "
            "x-api-key): add 'x-rate-limit-identity: { api_key: { header: X-Shop-Key } }' at the root, or use "
            "consumer_key: header:X-Shop-Key");
  const Reading two =
      reading("openapi: 3.1.0\n" + with_key + "    other: { type: apiKey, in: header, name: X-Api-Key }\n");
  EXPECT_EQ(two.problems.substr(0, 46), "6:5: warning: security scheme 'key' sends its ");
  EXPECT_EQ(two.policy->identity, Identity::defaults());
}

TEST(OpenApi, TakesASchemeThatIdentityReadsAsItIs) {
  for (const auto* identity : {"{ api_key: { header: x-shop-key } }", "{ user: { header: X-Shop-Key } }"}) {
    EXPECT_EQ(reading("openapi: 3.1.0\nx-rate-limit-identity: " + std::string(identity) + "\n" + with_key).problems,
              "");
  }
}

TEST(OpenApi, WarnsOfRootFieldsThatOnlyAPolicyHas) {
  const auto said_of = [](const std::string& field) {
    return reading("openapi: 3.1.0\n" + field +
                   ": {}\npaths:\n  /a: { get: { x-rate-limit: { algorithm: gcra, rate: "
                   "10/s, consumer_key: ip } } }\n")
        .problems;
  };
  const auto meant = [](const std::string& field, const std::string& ours) {
    return "2:1: warning: '" + field + "' has no effect at the root of an OpenAPI document, did you mean '" + ours +
           "'?";
  };
  EXPECT_EQ(said_of("tiers"), meant("tiers", "x-rate-limit-tiers"));
  EXPECT_EQ(said_of("x-tiers"), meant("x-tiers", "x-rate-limit-tiers"));
  EXPECT_EQ(said_of("identity"), meant("identity", "x-rate-limit-identity"));
  EXPECT_EQ(said_of("x-weir-limits"), meant("x-weir-limits", "x-rate-limit"));
}

TEST(OpenApi, HasHintsWithItsOwnFields) {
  const std::string limit =
      "paths:\n  /a: { get: { operationId: a, x-rate-limit: { algorithm: gcra, rate: 10/s, consumer_key: ip, "
      "tier_overrides: { pro: { rate: 20/s } } } } }\n";
  EXPECT_EQ(problem_lines(load_text("openapi: 3.1.0\n" + limit, "o").problems),
            "3:113: warning: 'a' has numbers for tier 'pro', but no header names a request's tier: set "
            "x-rate-limit-tiers.from");
  EXPECT_EQ(
      problem_lines(
          load_text("openapi: 3.1.0\nx-rate-limit-tiers: { default: free, names: [free] }\n" + limit, "o").problems),
      "4:113: tier 'pro' is not in x-rate-limit-tiers.names");
  const Loaded unverified = load_text("openapi: 3.1.0\n" + with_key, "o");
  EXPECT_NE(problem_lines(unverified.problems).find("set 'verified: true' in x-rate-limit-identity.api_key"),
            std::string::npos);
}

// Foreign extensions

TEST(OpenApi, LeavesTheExtensionsOfOthersAlone) {
  EXPECT_EQ(limits(policy(R"(
x-date-limit: 1
x-page-limit: 1
x-rate: 1
x-kong-plugin-rate-limiting: {}
paths:
  /a:
    x-amazon-apigateway-any-method: {}
    get: { x-rate-limit: LIMIT, x-google-quota: {}, x-codegen-request-body-name: b, x-render-list: [] }
)")),
            (Texts{"GET /a: GET /a"}));
}

TEST(OpenApi, ReadsTheExample) {
  const auto path = source_folder() / "examples" / "openapi.yaml";
  const Loaded loaded = load_path(path);
  EXPECT_EQ(problem_lines(loaded.problems), "");
  EXPECT_TRUE(loaded.ruleset);
  const Reading result = reading(text_of_file(path));
  EXPECT_EQ(result.problems, "");
  ASSERT_TRUE(result.policy);
  EXPECT_EQ(limits(*result.policy),
            (Texts{"whole-api: GET /v2/parcels, GET /v1/parcels, POST /v2/parcels, POST /v1/parcels, GET "
                   "/v2/parcels/{id}/{label.format}, GET /v1/parcels/{id}/{label.format}, POST /v2/exports, POST "
                   "/v1/exports, GET /ping",
                   "parcels: GET /v2/parcels, GET /v1/parcels, POST /v2/parcels, POST /v1/parcels",
                   "heavy: GET /v2/parcels/{id}/{label.format}, GET /v1/parcels/{id}/{label.format}, POST /v2/exports, "
                   "POST /v1/exports",
                   "startExport#2: POST /v2/exports, POST /v1/exports"}));
}

}  // namespace
}  // namespace weir::policy::openapi
