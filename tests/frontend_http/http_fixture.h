// Verbs for tests of the HTTP frontend.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/http_frontend.h"
#include "tests/frontend/context_fixture.h"

namespace weir::frontend {

struct Answer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;

  // Empty if the header is absent.
  [[nodiscard]] std::string field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key == name) return value;
    }
    return {};
  }
};

// Parses all responses in `bytes`, which must be complete. `bodiless`: they answer HEAD.
inline std::vector<Answer> parse_answers(std::string_view bytes, bool bodiless = false) {
  std::vector<Answer> answers;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find("\r\n\r\n");
    EXPECT_NE(end, std::string_view::npos) << bytes;
    if (end == std::string_view::npos) break;
    std::string_view head = bytes.substr(0, end + 2);
    bytes.remove_prefix(end + 4);
    Answer answer;
    answer.status = std::stoi(std::string(head.substr(9, 3)));
    for (head.remove_prefix(head.find("\r\n") + 2); !head.empty(); head.remove_prefix(head.find("\r\n") + 2)) {
      const std::string_view line = head.substr(0, head.find("\r\n"));
      const std::size_t colon = line.find(": ");
      answer.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    const std::string length = answer.field("Content-Length");
    if (!length.empty() && !bodiless) {
      answer.body = bytes.substr(0, std::stoul(length));
      bytes.remove_prefix(answer.body.size());
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

class HttpFixture : public ContextFixture {
 public:
  explicit HttpFixture(std::string_view policy, HttpOptions options = {}, Settings settings = {})
      : ContextFixture(policy, settings), frontend(context, health, std::move(options)) {}

  [[nodiscard]] Talk connect(std::string address = "127.0.0.1") {
    net::Peer peer;
    peer.address = std::move(address);
    return Talk(frontend.open(peer, net::Link()));
  }

  // Uses a new connection.
  Answer ask(std::string_view bytes) {
    const auto answers = parse_answers(connect().send(bytes), bytes.starts_with("HEAD"));
    EXPECT_EQ(answers.size(), 1U) << bytes;
    return answers.empty() ? Answer{} : answers.front();
  }

  // `headers` are lines that end in CRLF.
  Answer auth(std::string_view headers, std::string_view target = "/v1/auth", std::string_view method = "GET") {
    return ask(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" +
               std::string(headers) + "\r\n");
  }

  Answer check(std::string_view body, std::string_view target = "/v1/check") {
    return ask(check_request(body, target));
  }

  static std::string check_request(std::string_view body, std::string_view target = "/v1/check") {
    return "POST " + std::string(target) +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  }

  HttpFrontend frontend;
};

inline constexpr std::string_view two_per_minute = R"(
version: 1
limits:
  - name: by-user
    consumer_key: user
    algorithm: fixed_window
    rate: 2/min
)";

}  // namespace weir::frontend
