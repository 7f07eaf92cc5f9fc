// Written requests parse to the original values, however the bytes are split.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "base/ascii.h"
#include "tests/wire/http1_conversation.h"
#include "wire/http1/response_writer.h"

namespace weir::wire::http1 {
namespace {

std::string text_of_bytes(const std::string& alphabet, int longest) {
  return *rc::gen::resize(longest, rc::gen::container<std::string>(rc::gen::elementOf(alphabet)));
}

const std::string token_alphabet = "abcXYZ019!#$%&'*+-.^_`|~";
const std::string value_alphabet = "abc XYZ\t019:;,=\"\\()\xC3\xA9";

std::string any_token() {
  return *rc::gen::elementOf(token_alphabet) + text_of_bytes(token_alphabet, 20);
}

std::string as_hex(std::size_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(),
                  (*rc::gen::elementOf(std::vector<std::string>{"0123456789abcdef", "0123456789ABCDEF"}))[number % 16]);
  } while ((number /= 16) > 0);
  return digits;
}

std::string chunked(std::string_view body) {
  std::string bytes;
  while (!body.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, body.size() + 1);
    bytes += as_hex(size) + *rc::gen::elementOf(std::vector<std::string>{"", ";x", ";a=\"b\""}) + "\r\n";
    bytes += std::string(body.substr(0, size)) + "\r\n";
    body.remove_prefix(size);
  }
  return bytes + "0\r\n" + *rc::gen::elementOf(std::vector<std::string>{"", "X-Trailer: a\r\n"}) + "\r\n";
}

// Generates a request and appends its bytes to `bytes`.
Seen any_request(std::string& bytes) {
  Seen seen{.method = any_token(),
            .target = '/' + text_of_bytes("abc/?=%#&\xC3\xA9~", 40),
            .version = Version::http_1_1,
            .keep_alive = true,
            .host = text_of_bytes("abc.-:0", 10),
            .headers = {},
            .body = *rc::gen::container<std::string>(rc::gen::arbitrary<char>())};
  seen.headers.emplace_back("Host", seen.host);
  const int count = *rc::gen::inRange(0, 10);
  for (int i = 0; i < count; ++i) {
    const auto value = std::string(base::trimmed(text_of_bytes(value_alphabet, 40)));
    seen.headers.emplace_back("X-" + any_token(), value);
  }
  const bool is_chunked = *rc::gen::arbitrary<bool>();
  if (is_chunked) seen.headers.emplace_back("Transfer-Encoding", "chunked");
  if (!is_chunked) seen.headers.emplace_back("Content-Length", std::to_string(seen.body.size()));
  bytes += seen.method + ' ' + seen.target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : seen.headers) {
    bytes += name + ':' + text_of_bytes(" \t", 3) + value + text_of_bytes(" \t", 3) + "\r\n";
  }
  bytes += "\r\n" + (is_chunked ? chunked(seen.body) : seen.body);
  return seen;
}

Conversation received_whole(std::string_view bytes, const Limits& limits = {}) {
  Conversation talk(limits);
  talk.receive(bytes);
  return talk;
}

Conversation received_one_by_one(std::string_view bytes, const Limits& limits = {}) {
  Conversation talk(limits);
  talk.receive_one_by_one(bytes);
  return talk;
}

Conversation received_in_pieces(std::string_view bytes, const Limits& limits = {}) {
  Conversation talk(limits);
  while (!bytes.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, bytes.size() + 1);
    talk.receive(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return talk;
}

RC_GTEST_PROP(Http1Property, PipelinedRequestsRoundTripHoweverTheyAreSplit, ()) {
  std::string bytes;
  std::vector<Seen> expected;
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) expected.push_back(any_request(bytes));
  const Conversation whole = received_whole(bytes);
  RC_ASSERT(!whole.fault());
  RC_ASSERT(whole.requests() == expected);
  RC_ASSERT(whole.unconsumed() == 0U);
  RC_ASSERT(received_one_by_one(bytes) == whole);
  RC_ASSERT(received_in_pieces(bytes) == whole);
}

RC_GTEST_PROP(Http1Property, MalformedRequestsHaveTheSameFaultHoweverTheyAreSplit, ()) {
  std::string bytes;
  any_request(bytes);
  any_request(bytes);
  const int faults = *rc::gen::inRange(0, 4);
  for (int i = 0; i < faults; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    const char c = *rc::gen::element('\r', '\n', '\0', ' ', '\t', ':', ';', '0', 'f', 'x', '\x7F', '\x80', ',');
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        bytes[at] = c;
        break;
      case 1:
        bytes.insert(at, 1, c);
        break;
      default:
        bytes.erase(at, 1);
    }
  }
  const Limits limits{.head_bytes = *rc::gen::inRange<std::size_t>(0, 400),
                      .headers = *rc::gen::inRange<std::size_t>(1, 12),
                      .target_bytes = *rc::gen::inRange<std::size_t>(0, 50),
                      .body_bytes = *rc::gen::inRange<std::size_t>(0, 100)};
  const Conversation whole = received_whole(bytes, limits);
  RC_ASSERT(received_one_by_one(bytes, limits) == whole);
  RC_ASSERT(received_in_pieces(bytes, limits) == whole);
  RC_ASSERT(whole.fault() || whole.unconsumed() <= limits.max_request_size());
}

RC_GTEST_PROP(Http1Property, NoValueOfAHeaderEndsItsLine, (std::string value)) {
  std::string out;
  ResponseWriter response(out, {.status = 200, .date = value});
  response.header("X-Value", value);
  response.header(value, "a");
  response.finish("body");
  const std::size_t end = out.find("\r\n\r\n");
  RC_ASSERT(out.substr(end) == "\r\n\r\nbody");
  const bool is_name = !value.empty() && token_bytes.run(value) == value.size();
  const std::size_t lines = 4U + (value.empty() ? 0U : 1U) + (is_name ? 1U : 0U);
  RC_ASSERT(static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n')) == lines);
  RC_ASSERT(static_cast<std::size_t>(std::count(out.begin(), out.end(), '\r')) == lines);
}

}  // namespace
}  // namespace weir::wire::http1
