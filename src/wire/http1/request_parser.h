// Requests out of the bytes of one connection (HTTP/1.1 and 1.0, RFC 9112), pipelined or in pieces of any size.
//
//   RequestParser parser(limits);
//   std::vector<Header> room(limits.headers);
//   for (;;) {                                 // `bytes`: all that was read and not consumed
//     const Progress progress = parser.next(bytes, room);
//     if (progress.step != Step::complete) break;
//     answer(progress.request);
//     bytes = bytes.subspan(progress.consumed);
//   }
//
// The parser keeps places, not bytes: until a request is complete, its bytes stay with the caller as the parser
// left them, may move as a whole, and come again with what was read since. What it says is a function of the bytes,
// not of the pieces they came in. To decide several requests as one batch, give each its own part of a larger room.
// After a refusal it refuses everything: answer status_of(fault) and close. The same holds, without a fault, after
// a request whose keep_alive is false: drop what follows.
//
// Allocates nothing. One parser per connection, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/http1/chunked_body.h"
#include "wire/http1/lines.h"
#include "wire/http1/request.h"
#include "wire/http1/request_head.h"

namespace weir::wire::http1 {

struct Progress {
  Step step = Step::need_more;

  // Of a complete request, which begins at the first byte and is this long.
  std::size_t consumed = 0;
  Request request{};

  // Of one that needs more: how long it is at least, as far as is known.
  std::size_t at_least = 0;
  bool expects_continue = false;  // true once: the client waits for `100 Continue` before it sends the body

  // Of one that is refused.
  Fault fault{};
};

class RequestParser {
 public:
  // What is being waited for: each has its time-out.
  enum class Stage : std::uint8_t { idle, head, body, refused };

  explicit RequestParser(const Limits& limits = {}) noexcept : limits_(limits) {}

  // `room` holds at least Limits::headers, else it is the limit. The request's headers lie there.
  [[nodiscard]] Progress next(std::span<char> bytes, std::span<Header> room) noexcept;

  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }

 private:
  [[nodiscard]] Progress refuse(Fault fault) noexcept;
  [[nodiscard]] Progress read_body(std::span<char> bytes, std::span<Header> room, bool is_head_fresh) noexcept;
  [[nodiscard]] Progress need_body(std::size_t bytes_there, std::size_t at_least) noexcept;

  Limits limits_;
  Stage stage_ = Stage::idle;
  Fault fault_{};
  bool continue_was_told_ = false;
  RequestHead head_;
  ChunkedBody chunks_;
};

}  // namespace weir::wire::http1
