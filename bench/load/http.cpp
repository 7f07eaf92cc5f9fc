// HTTP/1.1: a POST with a JSON body, or a GET without one.
#include <algorithm>
#include <charconv>
#include <optional>

#include "load/protocol.h"

namespace bench::load {
namespace {

std::string request_of(const Question& question) {
  const bool has_body = !question.body.empty();
  std::string request = (has_body ? "POST " : "GET ") + question.path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  if (has_body) {
    request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(question.body.size()) + "\r\n";
  }
  return request + "\r\n" + question.body;
}

constexpr std::string_view length_field = "\ncontent-length:";

bool is_length_field(std::string_view line) noexcept {
  return line.size() > length_field.size() &&
         std::equal(length_field.begin(), length_field.end(), line.begin(),
                    [](char low, char c) { return low == c || (low >= 'a' && low <= 'z' && low == c + ('a' - 'A')); });
}

// The length of the body; absent if the head lacks it.
std::optional<std::size_t> length_of(std::string_view head) {
  for (std::size_t at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at + 1)) {
    std::string_view line = head.substr(at);
    if (!is_length_field(line)) continue;
    line.remove_prefix(length_field.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::size_t length = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), length).ec == std::errc()) return length;
  }
  return std::nullopt;
}

class Http final : public Protocol {
 public:
  Http(std::shared_ptr<Requests> requests, const Question& question)
      : requests_(std::move(requests)), admitted_(question.admitted), denied_(question.denied) {}

  std::string opening(Numbers& keys) override { return std::string(requests_->with_keys(1, keys)); }
  std::string_view next(std::size_t count, Numbers& keys) override { return requests_->with_keys(count, keys); }

  std::size_t read(std::string_view bytes, AnswerSink& sink, std::string& /*out*/) override {
    constexpr std::string_view end_of_head = "\r\n\r\n";
    std::size_t at = 0;
    for (;;) {
      const std::string_view unread = bytes.substr(at);
      const std::size_t end = unread.find(end_of_head);
      if (end == std::string_view::npos) return at;
      const std::string_view head = unread.substr(0, end + 2);
      const bool bodiless = head.substr(0, 12) == "HTTP/1.1 204";
      const auto length = bodiless ? std::optional<std::size_t>(0) : length_of(head);
      if (!length) throw WrongAnswer("an answer without Content-Length: " + std::string(head));
      const std::size_t size = end + end_of_head.size() + *length;
      if (unread.size() < size) return at;
      sink.answered(number_++, admits(head, unread.substr(size - *length, *length)));
      at += size;
    }
  }

 private:
  [[nodiscard]] bool admits(std::string_view head, std::string_view body) const {
    if (head.starts_with("HTTP/1.1 429")) return false;
    if (!denied_.empty() && body.find(denied_) != std::string_view::npos) return false;
    if (!head.starts_with("HTTP/1.1 20") || body.find(admitted_) == std::string_view::npos) {
      throw WrongAnswer(std::string(head) + std::string(body.substr(0, 200)));
    }
    return true;
  }

  std::shared_ptr<Requests> requests_;
  std::string admitted_;
  std::string denied_;
  std::uint64_t number_ = 0;
};

}  // namespace

MakeProtocol http_protocol(const Question& question, std::size_t pipeline) {
  if (question.path.empty()) throw std::invalid_argument("no path");
  return [requests = std::make_shared<Requests>(request_of(question), pipeline), question] {
    return std::make_unique<Http>(requests, question);
  };
}

}  // namespace bench::load
