// The cost of parsing a request and writing its response, without sockets.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/problem.h"
#include "text/date.h"
#include "wire/fields/answer_fields.h"
#include "wire/http1/request_parser.h"
#include "wire/http1/response_writer.h"

namespace {

using namespace weir::answer;
using namespace weir::wire;
using namespace weir::wire::http1;
using namespace std::chrono_literals;

constexpr std::string_view wrk = "GET /v1/auth HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-User: user-12345\r\n\r\n";

// A subrequest of nginx for a browser's request.
constexpr std::string_view browser =
    "GET /v1/auth HTTP/1.1\r\nHost: weir\r\nX-Original-URI: /api/v1/items/4711?page=2&sort=name\r\n"
    "X-Original-Method: GET\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: keep-alive\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\nSec-Fetch-Mode: navigate\r\n\r\n";

constexpr std::string_view check =
    "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 68\r\n\r\n"
    R"({"method":"GET","path":"/api/v1/items","user":"user-12345","cost":1})";

constexpr std::string_view chunked =
    "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nTransfer-Encoding: chunked\r\n\r\n"
    "20\r\n0123456789abcdef0123456789abcdef\r\n20\r\n0123456789abcdef0123456789abcdef\r\n0\r\n\r\n";

constexpr int pipelined = 16;

// One read of 16 requests, each with its own array of headers.
void parse(benchmark::State& state, std::string_view request) {
  std::string original;
  for (int i = 0; i < pipelined; ++i) original += request;
  std::string bytes = original;
  RequestParser parser;
  std::vector<Header> room(std::size_t{pipelined} * 32 + parser.limits().headers);
  while (state.KeepRunning()) {
    if (request == chunked) bytes = original;  // parsing moves the chunks
    std::span<char> rest(bytes);
    std::span<Header> free(room);
    int requests = 0;
    for (Progress progress; (progress = parser.next(rest, free)).step == Step::complete; ++requests) {
      benchmark::DoNotOptimize(progress.request);
      rest = rest.subspan(progress.consumed);
      free = free.subspan(progress.request.headers.size());
    }
    if (requests != pipelined) return state.SkipWithError("not all requests were read");
  }
  state.SetItemsProcessed(state.iterations() * pipelined);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(original.size()));
}

void parse_byte_by_byte(benchmark::State& state) {
  std::string bytes(browser);
  RequestParser parser;
  std::vector<Header> room(parser.limits().headers);
  while (state.KeepRunning()) {
    Step step = Step::need_more;
    for (std::size_t size = 1; size <= bytes.size(); ++size) step = parser.next({bytes.data(), size}, room).step;
    if (step != Step::complete) return state.SkipWithError("the request was not read");
  }
  state.SetItemsProcessed(state.iterations());
}

const weir::Instant now = std::chrono::sys_days{std::chrono::year{2025} / 11 / 15} + 500ms;

AnswerFields answer() {
  return {.policy = "per-user", .quota = 100, .window = 60s, .remaining = 50, .until_more = 600ms, .reset_after = 30s};
}

// Writes 16 responses with all fields to a reused buffer.
void respond(benchmark::State& state, bool denied) {
  const weir::text::HttpDate date = weir::text::http_date(now);
  const std::string_view name = "per-user";
  std::string out;
  std::string body;
  AnswerFields fields = answer();
  if (denied) fields.retry_after = 1s;
  while (state.KeepRunning()) {
    out.clear();
    for (int i = 0; i < pipelined; ++i) {
      ResponseWriter response(out, {.status = denied ? 429U : 200U, .date = {date.data(), date.size()}});
      for_each_field(fields, {}, now,
                     [&](std::string_view field, std::string_view value) { response.header(field, value); });
      body.clear();
      if (denied) {
        response.header("Content-Type", problem_content_type);
        append_problem(body, {.violated_policies = {&name, 1}, .limit = 100, .retry_after = 1s, .reset_at = now});
      }
      response.finish(body);
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * pipelined);
}

BENCHMARK_CAPTURE(parse, wrk, wrk)->Name("http1/parse/two_headers");
BENCHMARK_CAPTURE(parse, browser, browser)->Name("http1/parse/browser_through_nginx");
BENCHMARK_CAPTURE(parse, check, check)->Name("http1/parse/body_with_length");
BENCHMARK_CAPTURE(parse, chunked, chunked)->Name("http1/parse/body_in_two_chunks");
BENCHMARK(parse_byte_by_byte)->Name("http1/parse/browser_byte_by_byte");
BENCHMARK_CAPTURE(respond, admitted, false)->Name("http1/respond/admitted_all_fields");
BENCHMARK_CAPTURE(respond, denied, true)->Name("http1/respond/denied_with_problem");

}  // namespace

BENCHMARK_MAIN();
