// The Redis protocol: a command with an array of integers as its reply.
#include "load/protocol.h"

namespace bench::load {
namespace {

std::string command_of(const std::vector<std::string>& words) {
  std::string command = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) command += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return command;
}

// The end of the line that begins at `at`; npos if incomplete.
std::size_t end_of_line(std::string_view bytes, std::size_t at) noexcept {
  while (at < bytes.size() && bytes[at] != '\n') ++at;
  return at < bytes.size() ? at + 1 : std::string_view::npos;
}

class Resp final : public Protocol {
 public:
  Resp(std::shared_ptr<Requests> requests, char admitted) : requests_(std::move(requests)), admitted_(admitted) {}

  std::string opening(Numbers& keys) override { return std::string(requests_->with_keys(1, keys)); }
  std::string_view next(std::size_t count, Numbers& keys) override { return requests_->with_keys(count, keys); }

  std::size_t read(std::string_view bytes, AnswerSink& sink, std::string& /*out*/) override {
    std::size_t at = 0;
    for (std::size_t size = 0; (size = size_of_answer(bytes.substr(at))) > 0; at += size) {
      sink.answered(number_++, bytes[at + first_integer] == admitted_);
    }
    return at;
  }

 private:
  static constexpr std::size_t first_integer = 5;  // after "*5\r\n:"

  // Returns 0 if incomplete.
  static std::size_t size_of_answer(std::string_view bytes) {
    if (!bytes.empty() && bytes[0] != '*') throw WrongAnswer("not an array: " + std::string(bytes.substr(0, 200)));
    if (bytes.size() <= first_integer) return 0;
    if (bytes[2] != '\r') {
      throw WrongAnswer("not an array of integers: " + std::string(bytes.substr(0, 200)));
    }
    std::size_t at = first_integer - 1;
    for (int left = bytes[1] - '0'; left > 0; --left) {
      if (at >= bytes.size()) return 0;
      if (bytes[at] != ':') throw WrongAnswer("not an integer: " + std::string(bytes.substr(at, 200)));
      at = end_of_line(bytes, at);
      if (at == std::string_view::npos) return 0;
    }
    return at;
  }

  std::shared_ptr<Requests> requests_;
  char admitted_;
  std::uint64_t number_ = 0;
};

}  // namespace

MakeProtocol resp_protocol(const Question& question, std::size_t pipeline) {
  if (question.command.empty()) throw std::invalid_argument("no command");
  return [requests = std::make_shared<Requests>(command_of(question.command), pipeline), question] {
    return std::make_unique<Resp>(requests, question.admitted.empty() ? '0' : question.admitted.front());
  };
}

}  // namespace bench::load
