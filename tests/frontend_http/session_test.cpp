#include <gtest/gtest.h>

#include <string>

#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
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
  EXPECT_EQ(statuses(talk.send(alice + check + alice + "GET /healthz HTTP/1.1\r\nHost: a.b\r\n\r\n" + alice)),
            "200 200 429 421 429");
  EXPECT_FALSE(talk.closing());
}

TEST(HttpSession, NoAnswerWithABodyIsTakenForAnotherKindOfContent) {
  HttpFixture http(two_per_minute);
  constexpr std::string_view name = "X-Content-Type-Options";
  EXPECT_EQ(http.check(R"({"user": "alice", "cost": 2})").field(name), "nosniff");
  EXPECT_EQ(http.check(R"([{}])").field(name), "nosniff");
  EXPECT_EQ(http.check("nonsense").field(name), "nosniff");
  EXPECT_EQ(http.check("nonsense", "/json").field(name), "nosniff");
  EXPECT_EQ(http.check(R"({"receipt": "x"})", "/v1/release").field(name), "nosniff");
  for (const std::string_view path : {"/healthz", "/readyz", "/openapi.yaml", "/nothing"}) {
    EXPECT_EQ(http.auth("", path).field(name), "nosniff") << path;
  }
  EXPECT_EQ(http.ask("GET / HTTP/1.1\r\n\r\n").field(name), "nosniff") << "malformed";
  EXPECT_EQ(http.auth("X-User-Id: alice\r\n").field(name), "nosniff") << "a denial, which a proxy may pass on";
  EXPECT_EQ(http.auth("X-User-Id: bob\r\n").field(name), "") << "has no body";
}

TEST(HttpSession, AnswersMoreThanABatchHolds) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  std::string many;
  for (std::size_t i = 0; i < 3 * HttpLoopState::max_requests + 1; ++i) many += alice;
  EXPECT_EQ(parse_answers(talk.send(many)).size(), 3 * HttpLoopState::max_requests + 1);
}

TEST(HttpSession, DoesNotCareHowBytesAreCut) {
  const std::string all = alice + HttpFixture::check_request(R"({"user":"bob"})") +
                          "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "5\r\n{\"use\r\nc\r\nr\": \"carol\"}\r\n0\r\n\r\n" +
                          alice;
  HttpFixture whole(two_per_minute);
  const std::string expected = whole.connect().send(all);
  EXPECT_EQ(statuses(expected), "200 200 200 200");
  HttpFixture bytewise(two_per_minute);
  Talk talk = bytewise.connect();
  std::string sent;
  for (const char byte : all) sent += talk.send({&byte, 1});
  EXPECT_EQ(sent, expected);
}

TEST(HttpSession, StopsWhenThePeerDoesNotRead) {
  HttpFixture http(two_per_minute);
  net::Peer peer;
  Talk talk(http.frontend.open(peer, net::Link()), 1);
  std::string many;
  for (std::size_t i = 0; i < 2 * HttpLoopState::max_requests; ++i) many += alice;
  EXPECT_EQ(parse_answers(talk.send(many)).size(), HttpLoopState::max_requests);
  EXPECT_EQ(talk.pending().size(), many.size() / 2);
}

TEST(HttpSession, SendsContinueToAWaitingClient) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  EXPECT_EQ(
      talk.send("POST /v1/check HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
      "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(statuses(talk.send("{}")), "200");
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
           std::pair{"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", "400"},
       }) {
    HttpFixture http(two_per_minute);
    Talk talk = http.connect();
    EXPECT_EQ(statuses(talk.send(alice + bytes)), std::string("200 ") + status) << bytes;
    EXPECT_TRUE(talk.closing());
    EXPECT_EQ(talk.pending(), "");
  }
}

TEST(HttpSession, WhatAProxysClientSendsIsEvaluatedOrDenied) {
  const auto auth = [](const std::string& method, const std::string& target, const std::string& headers) {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nX-User-Id: a\r\n" + headers + "\r\n";
  };
  const std::string long_value(60'000, 'v');
  struct Row {
    std::string bytes;
    int status;
    std::optional<Unread> why{};
  };
  std::string many;
  for (int i = 0; i < 200; ++i) many += "X-" + std::to_string(i) + ": a\r\n";
  for (const Row& row : std::vector<Row>{
           {auth(std::string(33, 'A'), "/v1/auth/x", ""), 200},
           {auth(std::string(256, 'A'), "/v1/auth/x", ""), 200},
           {auth("GET", "/v1/auth/" + std::string(60'000, 'p'), ""), 200},
           {auth("GET", "/v1/auth/x", "X-Long: " + long_value + "\r\n"), 200},
           {auth("GET", "/v1/auth/x", many), 200},
           {auth(std::string(257, 'A'), "/v1/auth/x", ""), 400, Unread::malformed},
           {auth("G@T", "/v1/auth/x", ""), 400, Unread::malformed},
           {auth("GET", "/v1/auth/x", "Transfer-Encoding: gzip\r\n"), 400, Unread::malformed},
           {auth("GET", "/v1/auth/x", "Transfer-Encoding: gzip, chunked\r\n"), 400, Unread::malformed},
           {auth("GET", "/v1/auth/x", "X: a\x01\r\n"), 400, Unread::malformed},
           {auth("GET", "/v1/auth/" + std::string(70'000, 'p'), ""), 414, Unread::head_too_long},
           {auth("GET", "/v1/auth/x", "A: " + long_value + "\r\nB: " + long_value + "\r\nC: " + long_value + "\r\n"),
            431, Unread::head_too_long},
           {auth("GET", "/v1/auth/x", many + many), 431, Unread::head_too_long},
           {auth("GET", "/v1/auth/x", "Content-Length: 99999999999\r\n"), 413, Unread::message_too_long},
       }) {
    HttpFixture http(two_per_minute);
    const std::string_view shown = std::string_view(row.bytes).substr(0, 120);
    EXPECT_EQ(http.ask(row.bytes).status, row.status) << shown;
    for (std::size_t i = 0; i < unread_names.size(); ++i) {
      const bool expected = row.why && static_cast<std::size_t>(*row.why) == i;
      EXPECT_EQ(http.frontend.unevaluated()->denied[i].value(), expected ? 1U : 0U) << shown << ' ' << unread_names[i];
    }
    EXPECT_EQ(http.frontend.unevaluated()->failed.value(), 0U) << shown;
  }
}

TEST(HttpSession, EmptyLineBeforeARequestIsPassedOverOnce) {
  for (const std::size_t piece : {1U, 2U, 3U, 1'000U}) {
    HttpFixture http(two_per_minute);
    Talk talk = http.connect();
    const std::string bytes = "\r\n" + alice + "\r\n" + alice;
    std::string sent;
    for (std::size_t at = 0; at < bytes.size(); at += piece) sent += talk.send(bytes.substr(at, piece));
    EXPECT_EQ(statuses(sent), "200 200") << piece;
    EXPECT_EQ(statuses(talk.send("\r\n\r\n" + alice)), "400");
  }
}

TEST(HttpSession, IncompleteRequestIsAnsweredBeforeTheTimeout) {
  for (const std::string& part : {alice.substr(0, 10), alice.substr(0, alice.size() - 1)}) {
    HttpFixture http(two_per_minute);
    Talk talk = http.connect();
    EXPECT_EQ(talk.send(alice + part).substr(0, 12), "HTTP/1.1 200");
    net::Output out;
    talk.session().on_tick(net::SteadyTime{}, out);
    talk.session().on_tick(net::SteadyTime{} + 9s, out);
    EXPECT_EQ(out.bytes(), "");
    talk.session().on_tick(net::SteadyTime{} + 10s, out);
    EXPECT_EQ(statuses(out.bytes()), "408");
    EXPECT_TRUE(out.closing());
  }
  HttpFixture http(two_per_minute);
  Talk idle = http.connect();
  EXPECT_EQ(statuses(idle.send(alice + "\r\n")), "200");
  net::Output out;
  idle.session().on_tick(net::SteadyTime{}, out);
  idle.session().on_tick(net::SteadyTime{} + 10s, out);
  EXPECT_EQ(out.bytes(), "") << "an empty line is no request";
}

TEST(HttpSession, AnswersThatWaitAreBoundedInBytes) {
  HttpFixture http(two_per_minute);
  std::string array = "[{}";
  for (int i = 1; i < 1'000; ++i) array += ",{}";
  const std::string one = HttpFixture::check_request(array + "]");
  const std::size_t answer = http.connect().send(one).size();
  ASSERT_GT(answer, 50'000U);
  std::string many;
  for (int i = 0; i < 64; ++i) many += one;
  Talk talk = http.connect();
  const std::string sent = talk.send(many);
  EXPECT_LE(sent.size(), net::Output::default_bound + answer);
  EXPECT_EQ(talk.pending().size() % one.size(), 0U);
  EXPECT_GT(talk.pending().size(), 0U) << "the rest is asked for when this is read";
  std::size_t answered = parse_answers(sent).size();
  while (!talk.pending().empty()) answered += parse_answers(talk.send("")).size();
  EXPECT_EQ(answered, 64U);
}

TEST(HttpSession, BodiesAreTakenWithoutAContentEncoding) {
  const auto post = [](const std::string& path, const std::string& headers) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n" + headers + "\r\n{}";
  };
  HttpFixture http(two_per_minute);
  for (const std::string path : {"/v1/check", "/json"}) {
    EXPECT_EQ(http.ask(post(path, "Content-Encoding: gzip\r\n")).status, 415) << path;
    EXPECT_EQ(http.ask(post(path, "Content-Encoding: identity, br\r\n")).status, 415) << path;
    EXPECT_NE(http.ask(post(path, "Content-Encoding: Identity\r\n")).status, 415) << path;
  }
  EXPECT_EQ(http.auth("Content-Encoding: gzip\r\n").status, 200) << "the body of /v1/auth is not read";
}

TEST(HttpSession, WrongMethodIsAnsweredWithProblemDetails) {
  HttpFixture http(two_per_minute);
  const Answer answer = http.ask("GET /v1/check HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.field("Allow"), "POST");
  EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
  EXPECT_NE(answer.body.find(R"("status":405)"), std::string::npos) << answer.body;
}

TEST(HttpSession, KnowsWhenAConnectionEnds) {
  HttpFixture http(two_per_minute);
  Talk old = http.connect();
  const auto closed = parse_answers(old.send("GET /healthz HTTP/1.0\r\n\r\n" + alice));
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].field("Connection"), "close");
  EXPECT_TRUE(old.closing());
  Talk kept = http.connect();
  EXPECT_EQ(parse_answers(kept.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))[0].field("Connection"),
            "keep-alive");
  EXPECT_FALSE(kept.closing());
}

TEST(HttpSession, SaysGoodbyeWhileDraining) {
  HttpFixture http(two_per_minute);
  Talk talk = http.connect();
  EXPECT_EQ(talk.drain(), "");
  const auto answers = parse_answers(talk.send(alice + alice));
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
}  // namespace weir::frontend
