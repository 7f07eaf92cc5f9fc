// Accepted requests: their parts, pipelining, splitting, and the connection.
#include <gtest/gtest.h>

#include <string>

#include "tests/wire/http1_conversation.h"

namespace weir::wire::http1 {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;
using Stage = RequestParser::Stage;

// Parses one request from all bytes at once and byte by byte.
Seen read_one(const std::string& bytes) {
  Conversation whole;
  whole.receive(bytes);
  Conversation slow;
  slow.receive_one_by_one(bytes);
  EXPECT_EQ(whole, slow) << bytes;
  EXPECT_FALSE(whole.fault()) << bytes << text_of(whole.last().fault);
  EXPECT_EQ(whole.unconsumed(), 0U) << bytes;
  EXPECT_EQ(whole.requests().size(), 1U) << bytes;
  return whole.requests().empty() ? Seen{} : whole.requests().front();
}

TEST(Http1Request, HasItsPartsAsSent) {
  const Seen seen = read_one(
      "gEt /a?b=%20#\xC3\xA9 HTTP/1.1\r\nhOST: a.example:80\r\nX-User: \t u 1\t \r\n!#$%&'*+-.^_`|~:\r\n"
      "X-Tab:a\tb:\"\xC3\xA9\"\r\n\r\n");
  EXPECT_EQ(seen.method, "gEt");
  EXPECT_EQ(seen.target, "/a?b=%20#\xC3\xA9");
  EXPECT_EQ(seen.version, Version::http_1_1);
  EXPECT_EQ(seen.host, "a.example:80");
  EXPECT_EQ(
      seen.headers,
      (Headers{{"hOST", "a.example:80"}, {"X-User", "u 1"}, {"!#$%&'*+-.^_`|~", ""}, {"X-Tab", "a\tb:\"\xC3\xA9\""}}));
  EXPECT_EQ(seen.body, "");
}

TEST(Http1Request, TargetMayHaveAnyForm) {
  for (const std::string target : {"/", "*", "http://a.example/b", "a.example:443", "/%00", "//", "/a|b\"<>"}) {
    EXPECT_EQ(read_one("GET " + target + " HTTP/1.1\r\nHost:\r\n\r\n").target, target);
  }
}

TEST(Http1Request, KeepAliveDependsOnVersionAndHeader) {
  struct Row {
    std::string version;
    std::string headers;
    bool keep_alive;
  };
  for (const Row& row : {
           Row{"1.1", "", true},
           Row{"1.1", "Connection: close\r\n", false},
           Row{"1.1", "cOnnection: CLOSE\r\n", false},
           Row{"1.1", "Connection: keep-alive\r\n", true},
           Row{"1.1", "Connection: upgrade , close\r\n", false},
           Row{"1.1", "Connection: close, keep-alive\r\n", false},
           Row{"1.1", "Connection: x\r\nConnection: ,,\tclose,\r\n", false},
           Row{"1.1", "Connection: closed\r\n", true},
           Row{"1.1", "Connection:\r\n", true},
           Row{"1.0", "", false},
           Row{"1.0", "Connection: keep-alive\r\n", true},
           Row{"1.0", "Connection: Keep-Alive, TE\r\n", true},
           Row{"1.0", "Connection: keep-alive\r\nConnection: close\r\n", false},
       }) {
    const Seen seen = read_one("GET / HTTP/" + row.version + "\r\nHost: a\r\n" + row.headers + "\r\n");
    EXPECT_EQ(seen.keep_alive, row.keep_alive) << row.version << ' ' << row.headers;
    EXPECT_EQ(seen.version, row.version == "1.0" ? Version::http_1_0 : Version::http_1_1);
  }
}

TEST(Http1Request, BodyHasItsContentLength) {
  for (const std::string& body : {std::string(), std::string("x"), std::string("\r\n\r\n"), std::string("a\0b", 3)}) {
    const std::string length = "Content-Length: " + std::to_string(body.size());
    EXPECT_EQ(read_one("POST / HTTP/1.1\r\nHost: a\r\n" + length + "\r\n\r\n" + body).body, body);
    EXPECT_EQ(read_one("GET / HTTP/1.0\r\n" + length + "\r\n\r\n" + body).body, body);
  }
  EXPECT_EQ(read_one("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\n\r\nabc").body, "abc");
}

TEST(Http1Request, ChunksAreJoined) {
  struct Row {
    std::string chunks;
    std::string body;
  };
  for (const Row& row : {
           Row{"0\r\n\r\n", ""},
           Row{"3\r\nabc\r\n0\r\n\r\n", "abc"},
           Row{"1\r\na\r\n2\r\nbc\r\n00\r\n\r\n", "abc"},
           Row{"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"},
           Row{"0000000000000001\r\na\r\n0\r\n\r\n", "a"},
           Row{"4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"},
           Row{"1;a=b;c=\"d\"\r\na\r\n0;last\r\n\r\n", "a"},
           Row{"1; a = b\r\na\r\n0\r\n\r\n", "a"},
           Row{"1\r\na\r\n0\r\nX-Sum: 1\r\nContent-Length: 5\r\n\r\n", "a"},
       }) {
    const Seen seen = read_one("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: cHunked\r\n\r\n" + row.chunks);
    EXPECT_EQ(seen.body, row.body) << row.chunks;
    EXPECT_EQ(seen.headers.size(), 2U) << "trailers are no headers";
  }
}

TEST(Http1Request, OneEmptyLineMayPrecede) {
  EXPECT_EQ(read_one("\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n").target, "/a");
}

TEST(Http1Request, PipelinedRequestsAreReturnedInOrder) {
  const std::string bytes =
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
      "GET /2 HTTP/1.1\r\nHost: b\r\n\r\n"
      "POST /3 HTTP/1.1\r\nHost: c\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nd\r\n1\r\ne\r\n0\r\n\r\n\r\n"
      "GET /4 HTTP/1.1\r\nHost: d\r\n\r\nGET /5 HT";
  Conversation whole;
  whole.receive(bytes);
  ASSERT_EQ(whole.requests().size(), 4U);
  EXPECT_EQ(whole.requests()[0].body, "abc");
  EXPECT_EQ(whole.requests()[1].host, "b");
  EXPECT_EQ(whole.requests()[2].body, "de");
  EXPECT_EQ(whole.requests()[3].target, "/4");
  EXPECT_EQ(whole.unconsumed(), 9U);
  EXPECT_EQ(whole.stage(), Stage::head);
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    Conversation halves;
    halves.receive(std::string_view(bytes).substr(0, split));
    halves.receive(std::string_view(bytes).substr(split));
    EXPECT_EQ(halves, whole) << split;
  }
}

TEST(Http1Request, BatchedRequestsKeepTheirHeaders) {
  std::string bytes = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\nX: y\r\n\r\n";
  RequestParser parser({.headers = 4});
  std::vector<Header> room(8);
  const Progress first = parser.next(bytes, room);
  ASSERT_EQ(first.step, Step::complete);
  const Progress second =
      parser.next(std::span(bytes).subspan(first.consumed), std::span(room).subspan(first.request.headers.size()));
  ASSERT_EQ(second.step, Step::complete);
  EXPECT_EQ(first.request.headers[0].value, "a");
  EXPECT_EQ(second.request.headers[1], (Header{"X", "y"}));
}

TEST(Http1Request, StageIsWhatTheParserWaitsFor) {
  Conversation talk;
  EXPECT_EQ(talk.stage(), Stage::idle);
  talk.receive("G");
  EXPECT_EQ(talk.stage(), Stage::head);
  talk.receive("ET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(talk.stage(), Stage::body);
  EXPECT_EQ(talk.last().at_least, talk.unconsumed() + 2);
  talk.receive("ab");
  EXPECT_EQ(talk.stage(), Stage::idle);
  talk.receive("\n");
  EXPECT_EQ(talk.stage(), Stage::refused);
}

TEST(Http1Request, ContinueIsExpectedOnceAndOnlyBeforeTheBody) {
  struct Row {
    std::string head;
    std::string first_of_body;
    std::string rest;
    int expected;
  };
  const std::string two = "\r\nContent-Length: 2";
  for (const Row& row : {
           Row{"1.1\r\nHost: a\r\nExpect: 100-continue" + two, "", "ab", 1},
           Row{"1.1\r\nHost: a\r\nexpect: 100-Continue" + two, "", "ab", 1},
           Row{"1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked", "", "0\r\n\r\n", 1},
           Row{"1.1\r\nHost: a\r\nExpect: 100-continue" + two, "a", "b", 0},
           Row{"1.1\r\nHost: a\r\nExpect: 100-continue" + two, "ab", "", 0},
           Row{"1.1\r\nHost: a\r\nExpect: 100-continue", "", "", 0},
           Row{"1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0", "", "", 0},
           Row{"1.1\r\nHost: a\r\nExpect: something" + two, "", "ab", 0},
           Row{"1.1\r\nHost: a" + two, "", "ab", 0},
           Row{"1.0\r\nExpect: 100-continue" + two, "", "ab", 0},
       }) {
    Conversation talk;
    talk.receive("POST / HTTP/" + row.head + "\r\n\r\n" + row.first_of_body);
    EXPECT_EQ(talk.continues(), row.expected) << row.head;
    talk.receive_one_by_one(row.rest);
    EXPECT_EQ(talk.continues(), row.expected) << row.head;
    EXPECT_EQ(talk.requests().size(), 1U) << row.head;
  }
}

TEST(Http1Request, BodyThatIsTooLargeIsRejectedBeforeContinue) {
  Conversation talk({.body_bytes = 10});
  talk.receive("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  EXPECT_EQ(talk.continues(), 0);
  EXPECT_EQ(talk.fault(), Fault::body_too_large);
}

}  // namespace
}  // namespace weir::wire::http1
