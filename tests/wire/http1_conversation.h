// Feeds a parser with bytes split into given pieces. Each piece arrives in a new buffer of the exact size, so that
// AddressSanitizer finds views that outlive or exceed their buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/http1/request_parser.h"

namespace weir::wire::http1 {

struct Seen {
  std::string method;
  std::string target;
  Version version = Version::http_1_1;
  bool keep_alive = true;
  std::string host;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen copy_of(const Request& request) {
  Seen seen{.method = std::string(request.method),
            .target = std::string(request.target),
            .version = request.version,
            .keep_alive = request.keep_alive,
            .host = std::string(request.host),
            .headers = {},
            .body = std::string(request.body)};
  for (const Header& header : request.headers) seen.headers.emplace_back(header.name, header.value);
  return seen;
}

class Conversation {
 public:
  explicit Conversation(const Limits& limits = {}) : parser_(limits), room_(limits.headers) {}

  void receive(std::string_view piece) {
    auto buffer = std::make_unique<char[]>(size_ + piece.size());
    std::copy_n(bytes_.get() + begin_, size_, buffer.get());
    std::copy_n(piece.data(), piece.size(), buffer.get() + size_);
    bytes_ = std::move(buffer);
    begin_ = 0;
    size_ += piece.size();
    std::fill(room_.begin(), room_.end(), Header{"stale", "stale"});
    for (;;) {
      last_ = parser_.next({bytes_.get() + begin_, size_}, room_);
      if (last_.expects_continue) ++continues_;
      if (last_.step != Step::complete) return;
      requests_.push_back(copy_of(last_.request));
      begin_ += last_.consumed;
      size_ -= last_.consumed;
    }
  }

  void receive_one_by_one(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) receive(bytes.substr(i, 1));
  }

  [[nodiscard]] const std::vector<Seen>& requests() const { return requests_; }
  [[nodiscard]] std::optional<Fault> fault() const {
    return last_.step == Step::refused ? std::optional{last_.fault} : std::nullopt;
  }
  [[nodiscard]] const Progress& last() const { return last_; }
  [[nodiscard]] int continues() const { return continues_; }
  [[nodiscard]] std::size_t unconsumed() const { return size_; }
  [[nodiscard]] RequestParser::Stage stage() const { return parser_.stage(); }

  // Compares the requests and the final state.
  friend bool operator==(const Conversation& a, const Conversation& b) {
    return a.requests_ == b.requests_ && a.fault() == b.fault() && a.stage() == b.stage() && a.size_ == b.size_;
  }

 private:
  RequestParser parser_;
  std::vector<Header> room_;
  std::unique_ptr<char[]> bytes_ = std::make_unique<char[]>(0);
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::vector<Seen> requests_;
  Progress last_;
  int continues_ = 0;
};

}  // namespace weir::wire::http1
