#include <gtest/gtest.h>

#include <string>

#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

constexpr std::string_view domain = R"(
domain: mongo
descriptors:
  - key: database
    value: users
    rate_limit: { unit: minute, requests_per_unit: 2 }
  - key: database
    value: free
    rate_limit: { unlimited: true }
)";

Answer ask(HttpFixture& http, std::string_view body) {
  return http.ask("POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
                  "\r\n\r\n" + std::string(body));
}

constexpr std::string_view users =
    R"({"domain":"mongo","descriptors":[{"entries":[{"key":"database","value":"users"}]}]})";

TEST(DescriptorsJson, AnswersAsTheReferenceDoes) {
  HttpFixture http(domain);
  EXPECT_EQ(ask(http, users).body,
            R"({"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":2,"unit":"MINUTE"},)"
            R"("limitRemaining":1,"durationUntilReset":"60s"}]})");
  EXPECT_EQ(ask(http, users).status, 200);
  const Answer over = ask(http, users);
  EXPECT_EQ(over.status, 429);
  EXPECT_EQ(over.field("Retry-After"), "60");
  EXPECT_EQ(over.field("RateLimit"), "\"mongo\";r=0;t=60");
  EXPECT_EQ(over.body,
            R"({"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":{"requestsPerUnit":2,)"
            R"("unit":"MINUTE"},"limitRemaining":0,"durationUntilReset":"60s"}]})");
}

TEST(DescriptorsJson, DecidesAllDescriptorsTogether) {
  HttpFixture http(domain);
  const Answer answer = ask(http, R"({"domain":"mongo","hitsAddend":2,"descriptors":[
      {"entries":[{"key":"database","value":"free"}]},
      {"entries":[{"key":"database","value":"users"}]},
      {"entries":[{"key":"nothing","value":"known"}]}]})");
  EXPECT_EQ(answer.body, R"({"overallCode":"OK","statuses":[{"code":"OK","limitRemaining":4294967295},)"
                         R"({"code":"OK","currentLimit":{"requestsPerUnit":2,"unit":"MINUTE"},"limitRemaining":0,)"
                         R"("durationUntilReset":"60s"},{"code":"OK"}]})");
}

TEST(DescriptorsJson, TakesOverridesAndHitsOfDescriptors) {
  HttpFixture http(domain);
  const Answer answer = ask(http, R"({"domain":"mongo","descriptors":[{"entries":[{"key":"a","value":"b"}],
      "limit":{"requests_per_unit":"10","unit":"HOUR"},"hits_addend":"4"}]})");
  EXPECT_NE(answer.body.find(R"("requestsPerUnit":10,"unit":"HOUR"},"limitRemaining":6)"), std::string::npos)
      << answer.body;
}

TEST(DescriptorsJson, TakesWhatProtobufsJsonTakes) {
  const auto with = [](std::string_view descriptor, std::string_view request = "") {
    return R"({"domain":"mongo","descriptors":[{"entries":[{"key":"a","value":"b"}],)" + std::string(descriptor) +
           "}]" + std::string(request) + "}";
  };
  const std::string_view limit = R"("limit":{"requestsPerUnit":10,"unit":"HOUR"})";
  for (const std::string& body : {
           with(R"("limit":{"requestsPerUnit":10.0,"unit":"HOUR"},"hitsAddend":4.0)"),
           with(R"("limit":{"requests_per_unit":"10","unit":3},"hits_addend":"4")"),
           with(R"("limit":{"requestsPerUnit":1e1,"unit":3.0},"hitsAddend":"4.0")"),
           with(R"("limit":{"requestsPerUnit":"1e1","unit":"HOUR"},"hitsAddend":4e0)"),
           with(std::string(limit) + R"(,"hitsAddend":null)", R"(,"hitsAddend":4)"),
           with(std::string(limit) + R"(,"isNegativeHits":null,"hitsAddend":4)", R"(,"hits_addend":null)"),
           with(std::string(limit) + R"(,"isNegativeHits":false)", R"(,"hitsAddend":"4")"),
       }) {
    HttpFixture http(domain);
    const Answer answer = ask(http, body);
    EXPECT_NE(answer.body.find(R"("requestsPerUnit":10,"unit":"HOUR"},"limitRemaining":6)"), std::string::npos)
        << body << " -> " << answer.body;
  }
  HttpFixture http(domain);
  EXPECT_EQ(ask(http, R"({"domain":"mongo","descriptors":[{"entries":null,"limit":null}]})").status, 200);
  EXPECT_EQ(ask(http, R"({"domain":"mongo","descriptors":[{"entries":[{"key":"a","value":null}]}]})").status, 200);
}

TEST(DescriptorsJson, NegativeHitsAreToBeGivenBack) {
  DescriptorsReader reader;
  BatchMemory memory;
  for (const std::string_view name : {"isNegativeHits", "is_negative_hits"}) {
    const auto request = reader.read(
        R"({"domain":"mongo","descriptors":[{"hitsAddend":2,")" + std::string(name) + R"(":true},{}]})", memory);
    ASSERT_TRUE(request) << request.error().message();
    EXPECT_TRUE(request->queries[0].gives_back);
    EXPECT_EQ(request->queries[0].hits, Cost(2));
    EXPECT_FALSE(request->queries[1].gives_back);
  }
}

TEST(DescriptorsJson, NamesTheError) {
  struct Row {
    std::string_view body;
    std::string_view problem;
  };
  for (const Row& row : {
           Row{"", "body: invalid JSON"},
           Row{"[]", "the request: must be an object"},
           Row{"{}", "domain: must not be empty"},
           Row{R"({"domain":"mongo"})", "descriptors: must not be empty"},
           Row{R"({"domain":"mongo","descriptors":{}})", "descriptors: must be an array"},
           Row{R"({"domain":"mongo","descriptors":[{"entry":[]}]})", "entry: unknown field of a descriptor"},
           Row{R"({"domain":"mongo","descriptors":[{"entries":[{"key":1}]}]})", "key: must be a string"},
           Row{R"({"domain":"mongo","descriptors":[{"limit":{"unit":"EON"}}]})", "unit: must be SECOND"},
           Row{R"({"domain":"mongo","descriptors":[{"limit":{"requestsPerUnit":1}}]})", "unit: missing"},
           Row{R"({"domain":"mongo","hitsAddend":-1})", "hitsAddend: must be a whole number"},
           Row{R"({"domain":"mongo","hitsAddend":1.5})", "hitsAddend: must be a whole number"},
           Row{R"({"domain":"mongo","hitsAddend":""})", "hitsAddend: must be a whole number"},
           Row{R"({"domain":"mongo","hitsAddend":"nan"})", "hitsAddend: must be a whole number"},
           Row{R"({"domain":"mongo","hitsAddend":1e20})", "hitsAddend: must be a whole number"},
           Row{R"({"domain":"mongo","hitsAddend":4294967296})", "hitsAddend: must be at most 4294967295"},
           Row{R"({"domain":"mongo","descriptors":[{"limit":{"requestsPerUnit":4294967296,"unit":"DAY"}}]})",
               "requestsPerUnit: must be at most 4294967295"},
           Row{R"({"domain":"mongo","descriptors":[{"limit":{"requestsPerUnit":1,"unit":0}}]})",
               "unit: must be SECOND"},
           Row{R"({"domain":"mongo","descriptors":[{"limit":{"requestsPerUnit":1,"unit":99}}]})",
               "unit: must be SECOND"},
           Row{R"({"domain":"mongo","domain":"x"})", "domain: duplicate field of the request"},
           Row{R"({"domain":null,"domain":"x"})", "domain: duplicate field of the request"},
           Row{R"({"domain":"mongo","hitsAddend":1,"hits_addend":2})", "hitsAddend: duplicate field of the request"},
           Row{R"({"domain":"mongo","descriptors":[{"entries":[{"key":"a","key":"b"}]}]})", "key: duplicate field"},
           Row{R"({"domain":"mongo","descriptors":[null]})", "a descriptor: must be an object"},
           Row{R"({"domain":"mongo","unknown":null})", "unknown: unknown field of the request"},
           Row{R"({"domain":"mongo","descriptors":[{"isNegativeHits":1}]})", "isNegativeHits: must be true or false"},
           Row{R"({"domain":"weir","descriptors":[{}]})", "domain: 'weir' is reserved; use POST /v1/check"},
       }) {
    HttpFixture http(domain);
    const Answer answer = ask(http, row.body);
    EXPECT_EQ(answer.status, 400) << row.body;
    EXPECT_EQ(answer.body.find(row.problem), 0U) << row.body << " -> " << answer.body;
  }
}

}  // namespace
}  // namespace weir::frontend
