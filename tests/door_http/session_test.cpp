#include <gtest/gtest.h>

#include <string>

#include "tests/door_http/http_fixture.h"

namespace weir::door {
namespace {

const std::string alice = "GET /v1/auth HTTP/1.1\r\nHost: localhost\r\nX-User-Id: alice\r\n\r\n";

std::string statuses(std::string_view bytes) {
  std::string all;
  for (const Answer& answer : parse_answers(bytes)) all += (all.empty() ? "" : " ") + std::to_string(answer.status);
  return all;
}

TEST(HttpSession, AnswersAPipelineInOrderAsOneBatch) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  const std::string check = HttpFixture::check_request(R"({"user":"alice"})");
  EXPECT_EQ(statuses(talk.say(alice + check + alice + "GET /healthz HTTP/1.1\r\nHost: a.b\r\n\r\n" + alice)),
            "200 200 429 421 429");
  EXPECT_FALSE(talk.closing());
}

TEST(HttpSession, AnswersMoreThanABatchHolds) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  std::string many;
  for (std::size_t i = 0; i < 3 * HttpRoom::most_requests + 1; ++i) many += alice;
  EXPECT_EQ(parse_answers(talk.say(many)).size(), 3 * HttpRoom::most_requests + 1);
}

TEST(HttpSession, DoesNotCareHowBytesAreCut) {
  const std::string all = alice + HttpFixture::check_request(R"({"user":"bob"})") +
                          "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "5\r\n{\"use\r\nc\r\nr\": \"carol\"}\r\n0\r\n\r\n" +
                          alice;
  HttpFixture whole(two_per_minute);
  const std::string expected = whole.connect().say(all);
  EXPECT_EQ(statuses(expected), "200 200 200 200");
  HttpFixture bytewise(two_per_minute);
  Talk talk = bytewise.connect();
  std::string said;
  for (const char byte : all) said += talk.say({&byte, 1});
  EXPECT_EQ(said, expected);
}

TEST(HttpSession, StopsWhenThePeerDoesNotRead) {
  HttpFixture http(two_per_minute);
  net::Peer peer;
  Talk talk(http.door.open(peer, net::Link()), 1);
  std::string many;
  for (std::size_t i = 0; i < 2 * HttpRoom::most_requests; ++i) many += alice;
  EXPECT_EQ(parse_answers(talk.say(many)).size(), HttpRoom::most_requests);
  EXPECT_EQ(talk.pending().size(), many.size() / 2);
}

TEST(HttpSession, TellsAWaitingClientToSendItsBody) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  EXPECT_EQ(talk.say("POST /v1/check HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(statuses(talk.say("{}")), "200");
}

TEST(HttpSession, RefusesWhatIsMalformedAfterAnsweringWhatIsNot) {
  for (const auto& [bytes, status] : {
           std::pair{"GET /v1/auth HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", "400"},
           std::pair{"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
                     "400"},
           std::pair{
               "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
               "400"},
           std::pair{"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", "413"},
           std::pair{"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", "505"},
       }) {
    HttpFixture http(two_per_minute);
    Talk talk = http.connect();
    EXPECT_EQ(statuses(talk.say(alice + bytes)), std::string("200 ") + status) << bytes;
    EXPECT_TRUE(talk.closing());
    EXPECT_EQ(talk.pending(), "");
  }
}

TEST(HttpSession, KnowsWhenAConnectionEnds) {
  HttpFixture http(two_per_minute);
  Talk old = http.connect();
  const auto closed = parse_answers(old.say("GET /healthz HTTP/1.0\r\n\r\n" + alice));
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].field("Connection"), "close");
  EXPECT_TRUE(old.closing());
  Talk kept = http.connect();
  EXPECT_EQ(parse_answers(kept.say("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))[0].field("Connection"),
            "keep-alive");
  EXPECT_FALSE(kept.closing());
}

TEST(HttpSession, SaysGoodbyeWhileDraining) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  EXPECT_EQ(talk.drain(), "");
  const auto answers = parse_answers(talk.say(alice + alice));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].field("Connection"), "");
  EXPECT_EQ(answers[1].field("Connection"), "close");
  EXPECT_TRUE(talk.closing());
}

TEST(HttpSession, AnswersToKnownNamesOnly) {
  HttpOptions options;
  options.hosts = HostNames({"weir.internal"});
  HttpFixture http(two_per_minute, options);
  const auto status = [&](std::string_view host) {
    return http.ask("GET /v1/auth HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n").status;
  };
  for (const std::string_view good : {"localhost", "LocalHost:8080", "127.0.0.1:8080", "10.1.2.3", "[::1]:8080",
                                      "[2001:db8::1]", "weir.internal", "Weir.Internal:80"}) {
    EXPECT_EQ(status(good), 200) << good;
  }
  for (const std::string_view bad :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8080", "weir.internal.evil"}) {
    EXPECT_EQ(status(bad), 421) << bad;
  }
}

TEST(HttpSession, DoesNotDecideForPagesInABrowser) {
  HttpFixture http(two_per_minute);
  for (const std::string_view path : {"/v1/check", "/json"}) {
    EXPECT_EQ(http.ask("POST " + std::string(path) +
                       " HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Length: 2\r\n\r\n{}")
                  .status,
              403);
  }
  EXPECT_EQ(http.auth("Origin: http://shop.example\r\n").status, 200) << "that is the client's own";
}

TEST(HttpSession, AnswersHealthChecksThatNameNoHost) {
  HttpFixture http(two_per_minute);
  EXPECT_EQ(http.ask("GET /healthz HTTP/1.0\r\n\r\n").status, 200);
}

TEST(HttpSession, AsksForItsToken) {
  HttpOptions options;
  options.token = Token("secret");
  HttpFixture http(two_per_minute, options);
  EXPECT_EQ(http.auth("").status, 401);
  EXPECT_EQ(http.auth("X-Weir-Token: wrong!\r\n").status, 401);
  EXPECT_EQ(http.auth("X-Weir-Token: secret\r\n").status, 200);
  EXPECT_EQ(http.check("{}").status, 401);
  EXPECT_EQ(http.ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 200);
}

TEST(HttpSession, KnowsItsPathsAndMethods) {
  HttpFixture http(two_per_minute);
  const auto ask = [&](std::string_view line) {
    return http.ask(std::string(line) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  };
  EXPECT_EQ(ask("GET /v1/check").status, 405);
  EXPECT_EQ(ask("GET /v1/check").field("Allow"), "POST");
  EXPECT_EQ(ask("GET /json").status, 405);
  EXPECT_EQ(ask("GET /").status, 404);
  EXPECT_EQ(ask("GET /v1/authority").status, 404);
  EXPECT_EQ(ask("OPTIONS /v1/auth").status, 200);
  EXPECT_EQ(ask("GET /readyz").status, 200);
  http.health.set_serving(false);
  EXPECT_EQ(ask("GET /readyz").status, 503);
  EXPECT_EQ(ask("GET /healthz").status, 200);
}

}  // namespace
}  // namespace weir::door
