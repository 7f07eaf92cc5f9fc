#include "tests/overrides/service_fixture.h"

namespace weir::overrides {
namespace {

class RequestTest : public ServiceTest {
 protected:
  // The answer to an override of alice with these fields, as `STATUS text`.
  std::string rejected(std::string_view fields) {
    const Answer answer = put(fields);
    return std::to_string(answer.status) + " " + answer.text;
  }
};

TEST_F(RequestTest, SaysWhatIsWrongAndWhatToWrite) {
  serve(bucket_policy);
  const auto alice = std::string(R"("limit":"api","consumer":"alice","reason":"r","for":"1h",)");
  EXPECT_EQ(put("").text, "limit: missing: the name of the limit");
  EXPECT_EQ(rejected(R"("limit":"api","consumer":"alice","unlimited":true,"for":"1h")"),
            "400 reason: missing: write why the exception is made");
  EXPECT_EQ(rejected(R"("limit":"api","consumer":"alice","unlimited":true,"reason":"r")"),
            "400 until: missing: write until, for, or permanent: true");
  EXPECT_EQ(
      rejected(R"("limit":"api","consumer":"alice","unlimited":true,"reason":"r","until":"2020-01-01T00:00:00Z")"),
      "400 until: is in the past: write a time to come");
  EXPECT_EQ(rejected(alice + R"("unlimited":true,"banned":true)"),
            "400 override: contradicts itself: write exactly one of numbers, factor, unlimited, banned and add");
  EXPECT_EQ(
      rejected(alice + R"("faktor":2)"),
      "400 faktor: unknown field; valid fields: id, limit, consumer, numbers, factor, unlimited, banned, add, until, "
      "for, permanent, reason");
  EXPECT_EQ(rejected(alice + R"("factor":0)"),
            "400 factor: must be a number above 0 and at most 1000, with at most 3 decimal places");
  EXPECT_EQ(rejected(alice + R"("numbers":{"rate":"600/hour","bursts":3})"),
            "400 numbers: unknown field 'bursts', did you mean 'burst'?");
  EXPECT_EQ(rejected(alice + R"("numbers":{"limit":3})"),
            "400 numbers: token_bucket has no limit: write rate and burst, or refill_rate and capacity");
  EXPECT_EQ(rejected(alice + R"("numbers":{"rate":0})"), "400 numbers: rate: 0 is a ban: write banned: true");
  EXPECT_EQ(rejected(R"("limit":"apo","consumer":"alice","unlimited":true,"for":"1h","reason":"r")"),
            "400 limit 'apo': unknown, did you mean 'api'? Valid limits: api");
  EXPECT_EQ(rejected(R"("limit":"api","consumer":"alice","add":5,"reason":"r")"),
            "400 add: limit 'api' has no window that ends (only fixed_window has): write numbers with until instead");
  EXPECT_EQ(block(R"("identity":"mallory","for":"1h","reason":"r")").text,
            "identity: names no identity: write user=NAME, api_key=KEY, ip=ADDRESS, ip=NETWORK/BITS or "
            "header:NAME=VALUE");
  EXPECT_EQ(list(), R"({"version":0,"overrides":[],"next":null})") << "nothing changed";
}

TEST_F(RequestTest, AnOverrideCannotChangeAWindow) {
  serve(window_policy);
  EXPECT_EQ(
      rejected(R"("limit":"quota","consumer":"alice","numbers":{"rate":"9/min"},"for":"1h","reason":"r")"),
      "400 numbers: an override cannot change the window of limit 'quota', 3/h: that would be another counter; write "
      "limit, or a rate per the same window");
  EXPECT_EQ(put(R"("limit":"quota","consumer":"alice","numbers":{"rate":"9/h"},"for":"1h","reason":"r")").status, 200U);
}

TEST_F(RequestTest, AnIdentityThatAnyClientCanClaimIsNotLoosened) {
  serve(R"(
limits:
  - { name: keyed, consumer_key: api_key, algorithm: fixed_window, rate: 10/h }
  - { name: app, consumer_key: header:x-app, algorithm: token_bucket, rate: 10/h }
  - { name: both, consumer_key: user+header:x-app, algorithm: token_bucket, rate: 10/h }
)");
  const auto loosened = [&](std::string_view limit, std::string_view consumer, std::string_view terms) {
    return rejected(R"("limit":")" + std::string(limit) + R"(","consumer":")" + std::string(consumer) + R"(",)" +
                    std::string(terms) + R"(,"for":"1h","reason":"r")");
  };
  EXPECT_EQ(loosened("keyed", "api_key=k", R"("numbers":{"limit":11})"),
            "400 consumer: any client can claim this api_key, so an override must not admit more than the limit: set "
            "identity.api_key_verified if your proxy verifies keys, or key the limit by user");
  EXPECT_EQ(loosened("app", "header:x-app=a", R"("factor":2)").substr(0, 46),
            "400 consumer: any client can claim this header");
  EXPECT_EQ(put(R"("limit":"keyed","consumer":"k","add":5,"reason":"r")").status, 400U);
  EXPECT_EQ(loosened("keyed", "k", R"("numbers":{"limit":9})").substr(0, 3), "200");
  EXPECT_EQ(loosened("app", "a", R"("banned":true)").substr(0, 3), "200");
  EXPECT_EQ(loosened("both", "user=alice + header:x-app=a", R"("factor":2)").substr(0, 3), "200");
}

TEST_F(RequestTest, PuttingTheSameAgainChangesNothing) {
  serve(bucket_policy);
  const auto same =
      R"("id":"a","limit":"api","consumer":"alice","factor":2,"until":"2027-01-01T00:00:00Z","reason":"r")";
  const Answer first = put(same);
  EXPECT_EQ(first.version, 1U);
  EXPECT_EQ(
      first.text,
      R"({"id":"a","limit":"api","consumer":"user=alice","factor":2,"until":"2027-01-01T00:00:00Z",)"
      R"("reason":"r","by":"ops","created_at":"2026-01-05T12:00:00Z","version":1,"words":"factor 2","inactive":null})");
  advance(1s);
  EXPECT_EQ(put(same).text, first.text);
  EXPECT_EQ(put(first.text.substr(1, first.text.size() - 2)).text, first.text) << "what is listed can be sent back";
}

TEST_F(RequestTest, WithoutAnIdItReplacesTheOverrideOfTheConsumer) {
  serve(bucket_policy);
  ASSERT_EQ(put(R"("id":"a","limit":"api","consumer":"alice","factor":2,"for":"1h","reason":"r")").status, 200U);
  EXPECT_EQ(put(R"("limit":"api","consumer":"user=alice","factor":3,"for":"1h","reason":"r")").version, 2U);
  EXPECT_EQ(send(alice()).decision.limit, 6U);
  const Answer other = put(R"("id":"b","limit":"api","consumer":"alice","factor":2,"for":"1h","reason":"r")");
  EXPECT_EQ(other.status, 409U);
  EXPECT_EQ(other.text, "id: user=alice already has the override 'a'; send that id to replace it, or remove it");
  EXPECT_EQ(put(R"("id":"a","limit":"api","consumer":"bob","factor":2,"for":"1h","reason":"r")").status, 409U);
}

TEST_F(RequestTest, IfMatchGuardsAgainstAConcurrentChange) {
  serve(bucket_policy);
  const auto with = [](int factor) {
    return R"("id":"a","limit":"api","consumer":"alice","for":"1h","reason":"r","factor":)" + std::to_string(factor);
  };
  EXPECT_EQ(put(with(2), "\"1\"").status, 412U) << "there is none yet";
  EXPECT_EQ(put(with(2)).version, 1U);
  EXPECT_EQ(put(with(3), "\"1\"").version, 2U);
  EXPECT_EQ(put(with(4), "\"1\"").status, 412U);
  EXPECT_EQ(put(with(4), "*").version, 3U);
  EXPECT_EQ(remove("unknown").status, 404U);
}

TEST_F(RequestTest, ListsByPageAndFilter) {
  serve(bucket_policy);
  for (const auto* name : {"a", "b", "c"}) {
    const std::string fields = R"("id":")" + std::string(name) + R"(","limit":"api","consumer":"user=)" + name +
                               R"(","factor":2,"for":"1h","reason":"r")";
    ASSERT_EQ(put(fields).status, 200U);
  }
  const auto ids = [&](ServiceRequest request) {
    std::string found;
    const std::string text = ask(std::move(request)).text;
    for (std::size_t at = text.find(R"("id":")"); at != std::string::npos; at = text.find(R"("id":")", at + 1)) {
      found += text[at + 6];
    }
    return found + (text.ends_with(R"("next":null})") ? "" : "+");
  };
  EXPECT_EQ(ids({}), "abc");
  EXPECT_EQ(ids({.max = 2}), "ab+");
  EXPECT_EQ(ids({.cursor = "b", .max = 2}), "c");
  EXPECT_EQ(ids({.target = "user=b"}), "b");
  EXPECT_EQ(ids({.limit = "other"}), "");
}

}  // namespace
}  // namespace weir::overrides
