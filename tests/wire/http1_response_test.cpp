// Responses, byte by byte.
#include "wire/http1/response_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::wire::http1 {
namespace {

std::string written(const ResponseHead& head, std::string_view body = {}, Body whether = Body::sent) {
  std::string out;
  ResponseWriter(out, head).finish(body, whether);
  return out;
}

TEST(Http1Response, HasStatusHeadersLengthAndBody) {
  std::string out = "earlier";
  ResponseWriter response(out, {.status = 429, .date = "Sun, 06 Nov 1994 08:49:37 GMT"});
  response.header("Content-Type", "application/problem+json");
  response.header("Retry-After", "3");
  response.finish("{}");
  EXPECT_EQ(out,
            "earlierHTTP/1.1 429 Too Many Requests\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: application/problem+json\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}");
}

TEST(Http1Response, EmptyBodyHasALength) {
  EXPECT_EQ(written({}), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

TEST(Http1Response, HasAConnectionHeader) {
  EXPECT_EQ(written({.connection = Connection::close}),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(written({.connection = Connection::keep_alive}),
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n");
}

TEST(Http1Response, HeadHasTheLengthOfTheBodyItDoesNotSend) {
  EXPECT_EQ(written({}, "body", Body::withheld), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
}

TEST(Http1Response, StatusWithoutContentHasNeitherBodyNorLength) {
  EXPECT_EQ(written({.status = 204}, "body"), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(written({.status = 304}, "body"), "HTTP/1.1 304 Not Modified\r\n\r\n");
}

TEST(Http1Response, StatusNeedsNoPhrase) {
  EXPECT_EQ(written({.status = 299}), "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reason_phrase(505), "HTTP Version Not Supported");
  EXPECT_EQ(reason_phrase(999), "");
}

TEST(Http1Response, ContinueIsAHeadOfItsOwn) {
  std::string out;
  append_continue(out);
  EXPECT_EQ(out, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(Http1Response, ValueCannotEndItsLine) {
  struct Row {
    std::string_view value;
    std::string_view expected;
  };
  for (const Row& row : {
           Row{"a\r\nSet-Cookie: b", "a  Set-Cookie: b"},
           Row{"a\r\n\r\n<html>", "a    <html>"},
           Row{"a\nb", "a b"},
           Row{"a\rb", "a b"},
           Row{std::string_view{"a\0b", 3}, "a b"},
           Row{"a\tb\x7F", "a\tb "},
           Row{"caf\xC3\xA9", "caf\xC3\xA9"},
           Row{"a long value, beyond one block of the scan\r\nX: y",
               "a long value, beyond one block of the scan  X: y"},
       }) {
    std::string out;
    ResponseWriter response(out, {});
    response.header("X", row.value);
    response.finish();
    EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nX: " + std::string(row.expected) + "\r\nContent-Length: 0\r\n\r\n");
  }
}

TEST(Http1Response, HeaderWithAnInvalidNameIsOmitted) {
  std::string out;
  ResponseWriter response(out, {});
  for (const std::string_view name : {"", "a b", "a:", "a\r\nb", "\xC3"}) response.header(name, "x");
  response.finish();
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace weir::wire::http1
