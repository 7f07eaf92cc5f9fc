// Lines of common and combined logs, valid and invalid.
#include "simulate/combined_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

const Instant line_time = std::chrono::sys_days{2023y / 10 / 10} + 13h + 55min + 36s;

struct LineRow {
  std::string_view line;
  std::string_view ip;
  std::string_view user;
  std::string_view method;
  std::string_view target;
  std::uint16_t status = 200;
};

void expect_rows(const std::vector<LineRow>& rows) {
  CombinedLines lines;
  for (const LineRow& row : rows) {
    const auto entry = lines.parse(row.line);
    ASSERT_TRUE(entry.has_value()) << row.line << ": " << describe(entry.error());
    EXPECT_EQ(entry->at, line_time) << row.line;
    EXPECT_EQ(entry->ip, row.ip) << row.line;
    EXPECT_EQ(entry->user, row.user) << row.line;
    EXPECT_EQ(entry->method, row.method) << row.line;
    EXPECT_EQ(entry->target, row.target) << row.line;
    EXPECT_EQ(entry->status, row.status) << row.line;
    EXPECT_EQ(entry->grain, Grain::second);
    EXPECT_TRUE(entry->api_key.empty() && entry->tier.empty() && entry->headers.empty());
  }
}

TEST(CombinedLine, ParsesCommonCombinedAndTrailingText) {
  expect_rows({
      {R"(1.2.3.4 - alice [10/Oct/2023:13:55:36 +0000] "GET /x?y HTTP/1.1" 200 123)", "1.2.3.4", "alice", "GET",
       "/x?y"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /x HTTP/1.1" 200 123 "http://a/" "curl/8")", "1.2.3.4", "",
       "GET", "/x"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /x HTTP/2.0" 200 - "-" "-" "10.0.0.1" rt=0.003 [x])", "1.2.3.4",
       "", "GET", "/x"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "DELETE /x HTTP/2" 404 0)", "1.2.3.4", "", "DELETE", "/x", 404},
  });
}

TEST(CombinedLine, ClientIsAnIpAddressOrAHostName) {
  expect_rows({
      {R"(2001:db8::1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "2001:db8::1", "", "GET", "/"},
      {R"(::ffff:1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "::ffff:1.2.3.4", "", "GET", "/"},
      {R"(host.example.org - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "host.example.org", "", "GET",
       "/"},
      {R"(unix: - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "unix:", "", "GET", "/"},
      {R"(- - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "", "", "GET", "/"},
  });
}

TEST(CombinedLine, LeadingHostIsSkipped) {
  expect_rows({
      {R"(www.example.org:443 1.2.3.4 - bob [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "1.2.3.4", "bob",
       "GET", "/"},
      {R"(www.example.org 2001:db8::1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "2001:db8::1", "",
       "GET", "/"},
  });
}

TEST(CombinedLine, UserMayContainAnythingButAQuote) {
  expect_rows({
      {R"(1.2.3.4 - alice b. c [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "1.2.3.4", "alice b. c", "GET",
       "/"},
      {R"(1.2.3.4 ident alice [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "1.2.3.4", "alice", "GET", "/"},
      {R"(1.2.3.4 - [x] [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "1.2.3.4", "[x]", "GET", "/"},
      {R"(1.2.3.4 - a [01/Jan/1999:00:00:00 +0000] \x22GET /y [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)",
       "1.2.3.4", R"(a [01/Jan/1999:00:00:00 +0000] "GET /y)", "GET", "/"},
      {R"(1.2.3.4 - "" [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", "/"},
  });
}

TEST(CombinedLine, EscapesAreReverted) {
  expect_rows({
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /\"q\" HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", R"(/"q")"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /\x22q\x22 HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", R"(/"q")"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /caf\xC3\xa9 HTTP/1.1" 200 1)", "1.2.3.4", "", "GET",
       "/caf\xc3\xa9"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /a\\ HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", R"(/a\)"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /a\\\"b HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", R"(/a\"b)"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /a\tb\x0 HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", "/a\tb\\x0"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /\x00 HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", "/\0"sv},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /%22 HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", "/%22"},
      {R"(1.2.3.4 - a\x5Cb [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", "1.2.3.4", R"(a\b)", "GET", "/"},
  });
}

TEST(CombinedLine, UnusualRequestsAreParsed) {
  expect_rows({
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /" 200 1)", "1.2.3.4", "", "GET", "/"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /a b HTTP/1.1" 200 1)", "1.2.3.4", "", "GET", "/a b"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /a HTTP/1.1 HTTP/1.1" 200 1)", "1.2.3.4", "", "GET",
       "/a HTTP/1.1"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "get / HTTP/1.0" 200 1)", "1.2.3.4", "", "get", "/"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "OPTIONS * HTTP/1.1" 200 1)", "1.2.3.4", "", "OPTIONS", "*"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "CONNECT a.org:443 HTTP/1.1" 200 1)", "1.2.3.4", "", "CONNECT",
       "a.org:443"},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "VERSION-CONTROL http://a/b HTTP/1.1" 200 1)", "1.2.3.4", "",
       "VERSION-CONTROL", "http://a/b"},
  });
}

TEST(CombinedLine, InvalidStatusIsAbsent) {
  expect_rows({
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1")", "1.2.3.4", "", "GET", "/", 0},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" - -)", "1.2.3.4", "", "GET", "/", 0},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 2000 1)", "1.2.3.4", "", "GET", "/", 0},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 429)", "1.2.3.4", "", "GET", "/", 429},
  });
}

TEST(CombinedLine, InvalidLinesHaveAFault) {
  struct FaultRow {
    std::string_view line;
    Fault fault;
  };
  const std::vector<FaultRow> rows{
      {"", Fault::no_time},
      {"hello", Fault::no_time},
      {R"(1.2.3.4 - - 10/Oct/2023:13:55:36 "GET / HTTP/1.1" 200 1)", Fault::no_time},
      {"1.2.3.4 - - [10/Oct/2023:13:55", Fault::bad_time},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36.123 +0000] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 - - [2023-10-10T13:55:36+00:00] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 - - [10/Okt/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 - - [31/Feb/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 - - [10/Oct/2023:24:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:61 +0000] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 UTC00] "GET / HTTP/1.1" 200 1)", Fault::bad_time},
      {R"(1.2.3.4 [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::no_address},
      {R"(1.2.3.4 - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::no_address},
      {R"( - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::no_address},
      {R"([10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 1)", Fault::no_time},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000])", Fault::no_quoted_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] GET / HTTP/1.1 200 1)", Fault::no_quoted_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1)", Fault::no_quoted_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET /\" 200 1)", Fault::no_quoted_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "-" 408 0)", Fault::no_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "" 400 0)", Fault::no_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "\x16\x03\x01\x02" 400 0)", Fault::bad_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "\x16\x03 /x HTTP/1.1" 400 0)", Fault::bad_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET" 400 0)", Fault::bad_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET  HTTP/1.1" 400 0)", Fault::bad_request},
      {R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "G=T / HTTP/1.1" 400 0)", Fault::bad_request},
  };
  CombinedLines lines;
  for (const FaultRow& row : rows) {
    const auto entry = lines.parse(row.line);
    ASSERT_FALSE(entry.has_value()) << row.line;
    EXPECT_EQ(entry.error(), row.fault) << row.line << ": " << describe(entry.error());
  }
}

TEST(CombinedLine, RefererAndAgentAreHeadersOnRequest) {
  struct TailRow {
    std::string_view rest;
    std::vector<Header> expected;
  };
  const std::vector<TailRow> rows{
      {R"( 200 1 "http://a/" "curl/8")", {{"Referer", "http://a/"}, {"User-Agent", "curl/8"}}},
      {R"( 200 1 "-" "a \"b\" \x41" "more")", {{"User-Agent", "a \"b\" A"}}},
      {R"( 200 1 "http://a/" "cut off)", {{"Referer", "http://a/"}}},
      {R"( 200 1 "" "")", {}},
      {R"( 200 1)", {}},
      {"", {}},
  };
  CombinedLines lines(Tail::as_headers);
  for (const TailRow& row : rows) {
    const std::string line = R"(1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1")" + std::string(row.rest);
    const auto entry = lines.parse(line);
    ASSERT_TRUE(entry.has_value()) << line;
    EXPECT_EQ(std::vector<Header>(entry->headers.begin(), entry->headers.end()), row.expected) << line;
  }
}

TEST(FaultTally, CountsByKindAndKeepsTheFirstExamples) {
  FaultTally tally;
  tally.add(Fault::bad_request, 3, "a\x16\tb");
  for (std::uint64_t line = 10; line < 20; ++line) tally.add(Fault::no_time, line, std::string(500, 'x'));
  EXPECT_EQ(tally.count(Fault::bad_request), 1U);
  EXPECT_EQ(tally.count(Fault::no_time), 10U);
  EXPECT_EQ(tally.count(Fault::not_json), 0U);
  EXPECT_EQ(tally.total(), 11U);
  ASSERT_EQ(tally.examples().size(), FaultTally::max_examples);
  EXPECT_EQ(tally.examples()[0].line_number, 3U);
  EXPECT_EQ(tally.examples()[0].fault, Fault::bad_request);
  EXPECT_EQ(tally.examples()[0].excerpt, "a??b");
  EXPECT_EQ(tally.examples()[4].line_number, 13U);
  EXPECT_EQ(tally.examples()[4].excerpt.size(), FaultTally::max_excerpt_length);
}

}  // namespace
}  // namespace weir::simulate
