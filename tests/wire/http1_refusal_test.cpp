// Rejected requests: ambiguous, malformed or too large.
#include <gtest/gtest.h>

#include <string>

#include "tests/wire/http1_conversation.h"

namespace weir::wire::http1 {
namespace {

using namespace std::string_literals;

struct Refusal {
  std::string bytes;
  Fault fault;
};

// Expects a final refusal with this fault before any request, however the bytes are split.
void expect_refused(const Refusal& row, const Limits& limits = {}) {
  Conversation whole(limits);
  whole.receive(row.bytes);
  Conversation slow(limits);
  slow.receive_one_by_one(row.bytes);
  for (const Conversation* talk : {&whole, &slow}) {
    EXPECT_EQ(talk->fault(), row.fault) << row.bytes << '\n' << text_of(talk->last().fault);
    EXPECT_TRUE(talk->requests().empty()) << row.bytes;
  }
  whole.receive("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(whole.fault(), row.fault) << row.bytes;
}

std::string with_headers(const std::string& headers) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n\r\n";
}

std::string with_chunks(const std::string& chunks) {
  return with_headers("Transfer-Encoding: chunked") + chunks;
}

TEST(Http1Refusal, RequestLineHasOneForm) {
  const std::string rest = "\r\nHost: a\r\n\r\n";
  for (const std::string& line : {
           "GET /"s,               // HTTP/0.9
           "GET"s,                 //
           "GET "s,                //
           "GET HTTP/1.1"s,        // no target
           "GET  HTTP/1.1"s,       //
           "GET  / HTTP/1.1"s,     // two spaces
           "GET /  HTTP/1.1"s,     //
           "GET / HTTP/1.1 "s,     // a space after the version
           " GET / HTTP/1.1"s,     // a space before the method
           "GET\t/ HTTP/1.1"s,     // a tab
           "GET /\tHTTP/1.1"s,     //
           "GET /a\tb HTTP/1.1"s,  //
           "GET /a b HTTP/1.1"s,   // whitespace in the target
           "GET / a HTTP/1.1"s,    //
           "GET / HTTP/1.1 HTTP/1.1"s,
           "G(T / HTTP/1.1"s,     // not a token
           "G\xC3T / HTTP/1.1"s,  //
           "GET:/ HTTP/1.1"s,     //
           "/ HTTP/1.1"s,         //
           "GET / http/1.1"s,     // wrong letter case
           "GET / HTTP/1"s,       //
           "GET / HTTP/11"s,      //
           "GET / HTTP/1.10"s,    //
           "GET / HTTP/01.1"s,    //
           "GET / HTTP/1,1"s,     //
           "GET / HTTP/ 1.1"s,    //
           "GET / HTTPS/1.1"s,    //
           "GET / HTTP/1.\xB1"s,  //
           "Host: a"s,            //
       }) {
    expect_refused({line + rest, Fault::malformed_request_line});
  }
}

TEST(Http1Refusal, OtherVersionsAreRejected) {
  for (const std::string version : {"0.9", "1.2", "1.9", "2.0", "3.0", "0.1"}) {
    expect_refused({"GET / HTTP/" + version + "\r\nHost: a\r\n\r\n", Fault::unsupported_version});
  }
  expect_refused({"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Fault::unsupported_version});
}

TEST(Http1Refusal, LinesEndInCrLfOnly) {
  for (const std::string& bytes : {
           "GET / HTTP/1.1\nHost: a\n\n"s,
           "GET / HTTP/1.1\nHost: a\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: a\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: a\r\n\n"s,
           "GET / HTTP/1.1\r\nHost: a\r\nX: b\nContent-Length: 5\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: a\r\nX: b\rContent-Length: 5\r\n\r\n"s,
           "GET / HTTP/1.1\rHost: a\r\r"s,
           "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"s,
           "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
           "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       }) {
    expect_refused({bytes, Fault::malformed_line});
  }
}

TEST(Http1Refusal, LinesContainNoControlCharacters) {
  for (unsigned byte = 0; byte < 0x80; ++byte) {
    if ((byte >= 0x20 && byte < 0x7F) || byte == '\t') continue;
    const std::string c(1, static_cast<char>(byte));
    expect_refused({"G" + c + "T / HTTP/1.1\r\n", Fault::malformed_line});
    expect_refused({"GET /" + c + "x HTTP/1.1\r\n", Fault::malformed_line});
    expect_refused({with_headers("X-" + c + "A: b"), Fault::malformed_line});
    expect_refused({with_headers("X: a" + c + "b"), Fault::malformed_line});
    expect_refused({with_headers("X: a, and beyond a block of the scan" + c + "b"), Fault::malformed_line});
    expect_refused({with_headers("Transfer-Encoding:" + c + "chunked"), Fault::malformed_line});
    expect_refused({with_headers("Content-Length: 5" + c + "x"), Fault::malformed_line});
  }
}

TEST(Http1Refusal, MoreThanOneEmptyLineBeforeARequest) {
  expect_refused({"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Fault::malformed_request_line});
}

TEST(Http1Refusal, HeaderHasOneForm) {
  for (const std::string& header : {
           "X"s,                            // no colon
           ": a"s,                          // no name
           "X : a"s,                        // whitespace before the colon
           "X\t: a"s,                       //
           "Content-Length : 5"s,           //
           "Transfer-Encoding : chunked"s,  //
           " X: a"s,                        // a folded line
           "\tX: a"s,                       //
           "X: a\r\n b"s,                   //
           "X: a\r\n\tContent-Length: 5"s,  //
           "X Y: a"s,                       // not a token
           "X(: a"s,                        //
           "X\xC3: a"s,                     //
           "\"X\": a"s,                     //
           "GET / HTTP/1.1"s,               //
       }) {
    expect_refused({with_headers(header), Fault::malformed_header});
  }
  expect_refused({"GET / HTTP/1.1\r\n Host: a\r\n\r\n", Fault::malformed_header});
  expect_refused({with_headers("Transfer-Encoding:\r\n chunked"), Fault::unsupported_encoding});
  expect_refused({with_headers("Content-Length:\r\n 5"), Fault::malformed_length});
}

TEST(Http1Refusal, HostIsUniqueAndValid) {
  expect_refused({"GET / HTTP/1.1\r\n\r\n", Fault::missing_host});
  expect_refused({"GET / HTTP/1.1\r\nHosts: a\r\n\r\n", Fault::missing_host});
  for (const std::string again : {"Host: a", "host: b", "HOST:"}) {
    expect_refused({with_headers(again), Fault::repeated_host});
    expect_refused({"GET / HTTP/1.0\r\nHost: a\r\n" + again + "\r\n\r\n", Fault::repeated_host});
  }
  for (const std::string host : {"a b", "a/b", "a@b", "a\tb", "a\\b", "a?", "a#", "\"a\"", "a<", "\xC3\xA9"}) {
    expect_refused({"GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", Fault::malformed_host});
  }
}

TEST(Http1Refusal, LengthIsDigitsOnly) {
  for (const std::string length : {"", "-1", "+1", "1.0", "1e1", "0x1", "a", "1a", "1 1", "1,1", "1, 1", ",1", "1,",
                                   "1;", "\"1\"", "\xB2", "1\t1", "5 ,"}) {
    expect_refused({with_headers("Content-Length: " + length), Fault::malformed_length});
  }
}

TEST(Http1Refusal, LengthThatOverflowsIsTooLarge) {
  for (const std::string length : {"1048577", "18446744073709551615", "18446744073709551616", "18446744073709551621",
                                   "99999999999999999999999999999999999999", "36893488147419103232"}) {
    expect_refused({with_headers("Content-Length: " + length), Fault::body_too_large});
  }
}

TEST(Http1Refusal, BodyHasOneLengthOnly) {
  for (const Refusal& row : {
           Refusal{"Content-Length: 5\r\nContent-Length: 6", Fault::repeated_length},
           Refusal{"Content-Length: 5\r\nContent-Length: 5", Fault::repeated_length},
           Refusal{"Content-Length: 0\r\ncontent-length: 0", Fault::repeated_length},
           Refusal{"Content-Length: 5\r\nTransfer-Encoding: chunked", Fault::length_and_encoding},
           Refusal{"Content-Length: 5\r\nTransfer-Encoding: identity", Fault::length_and_encoding},
           Refusal{"Transfer-Encoding: chunked\r\nContent-Length: 5", Fault::length_and_encoding},
           Refusal{"transfer-encoding: chunked\r\nCONTENT-LENGTH: 0", Fault::length_and_encoding},
           Refusal{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", Fault::repeated_encoding},
           Refusal{"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", Fault::repeated_encoding},
       }) {
    expect_refused({with_headers(row.bytes), row.fault});
  }
}

TEST(Http1Refusal, OnlyEncodingIsChunked) {
  for (const std::string encoding : {"", "identity", "gzip", "xchunked", "chunkedx", "chunked, chunked",
                                     "gzip, chunked", "chunked, identity", "chunked,", ",chunked", "\"chunked\"",
                                     "chunked;q=1", "chunked chunked", "'chunked'", "chun ked", "identity, chunked"}) {
    expect_refused({with_headers("Transfer-Encoding: " + encoding), Fault::unsupported_encoding});
  }
  expect_refused({"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", Fault::encoding_in_http_1_0});
}

TEST(Http1Refusal, ChunkSizeIsHexadecimalDigitsOnly) {
  for (const std::string& chunks : {
           "\r\n"s,
           ";a\r\n"s,
           "g\r\n"s,
           "-1\r\n"s,
           "+1\r\n"s,
           "0x1\r\n"s,
           "1h\r\n"s,
           " 1\r\na\r\n0\r\n\r\n"s,
           "1 \r\na\r\n0\r\n\r\n"s,
           "1\t\r\na\r\n0\r\n\r\n"s,
           "1 ;a\r\na\r\n0\r\n\r\n"s,
           "1 1\r\n"s,
           "1,1\r\n"s,
           "1.\r\n"s,
           "\xB1\r\n"s,
           "00000000000000001\r\na\r\n0\r\n\r\n"s,  // beyond 16 digits
           "10000000000000001\r\na\r\n0\r\n\r\n"s,  // beyond 64 bits
           "fffffffffffffffff\r\na\r\n0\r\n\r\n"s,
       }) {
    expect_refused({with_chunks(chunks), Fault::malformed_chunk});
  }
}

TEST(Http1Refusal, ChunksAreFramedByCrLfOnly) {
  for (const std::string& chunks : {
           "1\na\r\n0\r\n\r\n"s,
           "1\ra\r\n0\r\n\r\n"s,
           "1\r\na\n0\r\n\r\n"s,
           "1\r\na\r0\r\n\r\n"s,
           "1\r\na0\r\n\r\n"s,
           "1\r\nab\r\n0\r\n\r\n"s,
           "2\r\na\r\n0\r\n\r\n"s,
           "1\r\n\r\n0\r\n\r\n"s,
           "0\n\r\n"s,
           "0\r\n\n"s,
           "0\r\n\rx"s,
           "1;a\nb\r\na\r\n0\r\n\r\n"s,
           "1;a\rb\r\na\r\n0\r\n\r\n"s,
           "1;a\0b\r\na\r\n0\r\n\r\n"s,
           "0\r\nX\r\n\r\n"s,
           "0\r\nX : a\r\n\r\n"s,
           "0\r\n X: a\r\n\r\n"s,
           "0\r\nX: a\r\n b\r\n\r\n"s,
           "0\r\nX: a\nb\r\n\r\n"s,
           "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       }) {
    expect_refused({with_chunks(chunks), Fault::malformed_chunk});
  }
}

TEST(Http1Refusal, ChunksTogetherAreLimitedLikeABody) {
  const Limits limits{.body_bytes = 10};
  for (const std::string chunks : {"b\r\n", "5\r\nabcde\r\n6\r\n", "ffffffffffffffff\r\n",
                                   "1\r\na\r\nffffffffffffffff\r\n", "7fffffffffffffff\r\n"}) {
    expect_refused({with_chunks(chunks), Fault::body_too_large}, limits);
  }
}

TEST(Http1Refusal, FramingOfChunksIsBoundedByTheirData) {
  const Limits limits{.head_bytes = 100};
  expect_refused({with_chunks("1;" + std::string(200, 'x')), Fault::chunks_too_small}, limits);
  expect_refused({with_chunks("0\r\nX: " + std::string(200, 'x')), Fault::chunks_too_small}, limits);
  std::string tiny;
  for (int i = 0; i < 100; ++i) tiny += "1\r\na\r\n";
  expect_refused({with_chunks(tiny), Fault::chunks_too_small}, limits);
  Conversation talk(limits);
  std::string small;
  for (int i = 0; i < 100; ++i) small += "5\r\nabcde\r\n";
  talk.receive(with_chunks(small + "0\r\n\r\n"));
  ASSERT_EQ(talk.requests().size(), 1U);
  EXPECT_EQ(talk.requests().front().body.size(), 500U);
}

// A request at a limit is accepted, one beyond it is rejected.
void expect_limit(const Limits& limits, const std::string& within, const Refusal& beyond) {
  Conversation talk(limits);
  talk.receive_one_by_one(within);
  EXPECT_EQ(talk.requests().size(), 1U) << within;
  expect_refused(beyond, limits);
}

TEST(Http1Refusal, EachLimitIsExact) {
  const auto target = [](std::size_t size) {
    return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  expect_limit({.target_bytes = 20}, target(20), {target(21), Fault::target_too_long});
  expect_limit({.target_bytes = 20}, "\r\n" + target(20), {"\r\n" + target(200), Fault::target_too_long});

  const auto method = [](std::size_t size) { return std::string(size, 'M') + " / HTTP/1.1\r\nHost: a\r\n\r\n"; };
  expect_limit({}, method(256), {method(257), Fault::method_too_long});

  const auto head = [](std::size_t size) {
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
  };
  expect_limit({.head_bytes = 80}, head(80), {head(81), Fault::head_too_large});
  expect_limit({.head_bytes = 80}, head(80), {head(82), Fault::head_too_large});
  expect_limit({.head_bytes = 80}, head(80), {head(8000), Fault::head_too_large});

  const auto headers = [](std::size_t count) {
    std::string all = "GET / HTTP/1.1\r\nHost: a\r\n";
    while (--count > 0) all += "X: a\r\n";
    return all + "\r\n";
  };
  expect_limit({}, headers(256), {headers(257), Fault::too_many_headers});

  const auto body = [](std::size_t size) {
    return with_headers("Content-Length: " + std::to_string(size)) + std::string(size, 'a');
  };
  expect_limit({.body_bytes = 10}, body(10), {body(11), Fault::body_too_large});
}

TEST(Http1Refusal, LineWithoutAnEndIsRejectedAtItsLimit) {
  expect_refused({std::string(67'000, 'A'), Fault::target_too_long});
  expect_refused({"GET / HTTP/1.1\r\n" + std::string(132'000, 'A'), Fault::head_too_large});
}

TEST(Http1Refusal, EveryFaultHasAStatusAndAText) {
  struct Answer {
    Fault fault;
    unsigned status;
  };
  for (const Answer& answer : {
           Answer{Fault::malformed_line, 400},
           Answer{Fault::repeated_length, 400},
           Answer{Fault::missing_host, 400},
           Answer{Fault::malformed_chunk, 400},
           Answer{Fault::body_too_large, 413},
           Answer{Fault::chunks_too_small, 413},
           Answer{Fault::target_too_long, 414},
           Answer{Fault::head_too_large, 431},
           Answer{Fault::too_many_headers, 431},
           Answer{Fault::method_too_long, 400},
           Answer{Fault::unsupported_encoding, 400},
           Answer{Fault::unsupported_version, 400},
       }) {
    EXPECT_EQ(status_of(answer.fault), answer.status) << text_of(answer.fault);
    EXPECT_FALSE(text_of(answer.fault).empty());
  }
}

TEST(Http1Refusal, NoStatusIsAServerError) {
  for (unsigned fault = 0; fault <= static_cast<unsigned>(Fault::chunks_too_small); ++fault) {
    const unsigned status = status_of(static_cast<Fault>(fault));
    EXPECT_GE(status, 400U) << fault;
    EXPECT_LT(status, 500U) << fault;
  }
}

}  // namespace
}  // namespace weir::wire::http1
