#include "wire/http1/request_parser.h"

namespace weir::wire::http1 {
Progress RequestParser::next(std::span<char> bytes, std::span<Header> room) noexcept {
  if (stage_ == Stage::refused) return refuse(fault_);
  if (stage_ == Stage::body) return read_body(bytes, room, false);
  if (stage_ == Stage::idle) {
    if (bytes.empty()) return {};
    // An empty line on its own may be the end of the request before.
    if (std::string_view("\r\n").starts_with(text(bytes))) return {.at_least = bytes.size() + 1};
    stage_ = Stage::head;
    head_ = RequestHead{};
  }
  const Step step = head_.read(text(bytes), limits_, room);
  if (step == Step::refused) return refuse(head_.fault());
  if (step == Step::need_more) return {.at_least = bytes.size() + 1};
  stage_ = Stage::body;
  continue_was_told_ = false;
  if (head_.is_chunked()) chunks_ = ChunkedBody(head_.size());
  return read_body(bytes, room, true);
}

Progress RequestParser::refuse(Fault fault) noexcept {
  stage_ = Stage::refused;
  fault_ = fault;
  return {.step = Step::refused, .fault = fault};
}

Progress RequestParser::read_body(std::span<char> bytes, std::span<Header> room, bool is_head_fresh) noexcept {
  std::size_t begin = head_.size();
  std::size_t size = head_.content_length();
  std::size_t end = begin + size;
  if (head_.is_chunked()) {
    const Step step = chunks_.read(bytes, limits_);
    if (step == Step::refused) return refuse(chunks_.fault());
    if (step == Step::need_more) return need_body(bytes.size(), bytes.size() + 1);
    begin = chunks_.begin();
    size = chunks_.size();
    end = chunks_.end();
  } else if (bytes.size() < end) {
    return need_body(bytes.size(), end);
  }
  if (!is_head_fresh) {
    // The views of an earlier call are void: the head, which is unchanged, is read once more.
    head_ = RequestHead{};
    if (head_.read(text(bytes), limits_, room) != Step::complete) return refuse(head_.fault());
  }
  stage_ = Stage::idle;
  Progress progress{.step = Step::complete, .consumed = end, .request = head_.request(room)};
  progress.request.body = text(bytes.subspan(begin, size));
  return progress;
}

// A client whose body has begun to arrive does not wait for leave to send it.
Progress RequestParser::need_body(std::size_t bytes_there, std::size_t at_least) noexcept {
  const bool tell = head_.expects_continue() && !continue_was_told_ && bytes_there == head_.size();
  continue_was_told_ = true;
  return {.at_least = at_least, .expects_continue = tell};
}

}  // namespace weir::wire::http1
