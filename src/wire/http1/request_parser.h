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
#include <string_view>

#include "wire/http1/lines.h"
#include "wire/http1/request.h"

namespace weir::wire::http1 {

// How far reading got with the bytes that are there.
enum class Step : std::uint8_t { complete, need_more, refused };

// The head of a request: the request line, the headers, and what they say about the body and the connection.
//
// Reads a buffer that fills up, a line as soon as it is there. Nothing that two readers could take for different
// requests gets through (RFC 9112, 11.2): not two lengths, nor a length and an encoding, nor a lenient line.
class RequestHead {
 public:
  // `bytes` begin with the head; those of earlier calls are unchanged, though they may have moved. `room` is for
  // the headers, and of the same size at each call. Once complete, all views are into these `bytes`, and `room`.
  [[nodiscard]] Step read(std::string_view bytes, const Limits& limits, std::span<Header> room) noexcept;

  [[nodiscard]] Fault fault() const noexcept { return fault_; }  // once refused

  // Once complete.
  [[nodiscard]] std::size_t size() const noexcept { return lines_.at(); }
  [[nodiscard]] bool is_chunked() const noexcept { return has(chunked); }
  [[nodiscard]] std::size_t content_length() const noexcept { return content_length_; }  // zero if there is none
  [[nodiscard]] bool expects_continue() const noexcept;
  [[nodiscard]] Request request(std::span<const Header> room) const noexcept;  // without its body

 private:
  enum Trait : std::uint8_t {
    request_line = 1 << 0,
    host = 1 << 1,
    length = 1 << 2,
    chunked = 1 << 3,
    close = 1 << 4,
    keep_alive = 1 << 5,
    wants_continue = 1 << 6,
  };

  [[nodiscard]] bool has(Trait trait) const noexcept { return (traits_ & trait) != 0; }
  void set(Trait trait) noexcept { traits_ = static_cast<std::uint8_t>(traits_ | trait); }
  [[nodiscard]] bool refuse(Fault fault) noexcept;

  // Each is false if it refuses.
  [[nodiscard]] bool read_line(const Limits& limits, std::span<Header> room) noexcept;
  [[nodiscard]] bool read_request_line(std::string_view line, std::size_t max_target_length) noexcept;
  [[nodiscard]] bool read_header(std::string_view line, Header& header) noexcept;
  [[nodiscard]] bool heed(const Header& header) noexcept;
  [[nodiscard]] bool apply_host(std::string_view value) noexcept;
  [[nodiscard]] bool apply_length(std::string_view value) noexcept;
  [[nodiscard]] bool apply_encoding(std::string_view value) noexcept;
  void apply_connection(std::string_view value) noexcept;
  [[nodiscard]] bool is_consistent(const Limits& limits) noexcept;

  Lines lines_;
  std::uint8_t traits_ = 0;
  Version version_ = Version::http_1_1;
  Fault fault_{};
  std::size_t headers_ = 0;
  std::size_t content_length_ = 0;
  std::string_view method_;
  std::string_view target_;
  std::string_view host_;
};

// A chunked body (RFC 9112, 7.1), put together in place: the data of its chunks moves together, over what framed them.
// A body of one chunk does not move at all.
//
// Sizes are hexadecimal digits and nothing else; extensions are passed over, trailers are read and dropped.
// What is not data is bounded by the data and the size of one head: a flood of tiny chunks is refused.
class ChunkedBody {
 public:
  ChunkedBody() = default;
  explicit ChunkedBody(std::size_t at) noexcept : lines_(at), start_(at), begin_(at) {}

  // `bytes` are those of earlier calls, as they were left (they may have moved as a whole), and what has come since.
  [[nodiscard]] Step read(std::span<char> bytes, const Limits& limits) noexcept;

  [[nodiscard]] Fault fault() const noexcept { return fault_; }  // once refused

  // Where it lies so far. Never beyond what was read.
  [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Where reading goes on; once complete, where the next request begins.
  [[nodiscard]] std::size_t end() const noexcept { return lines_.at(); }

 private:
  enum class Part : std::uint8_t { chunk_size, data, data_end, trailer };

  [[nodiscard]] Step refuse(Fault fault) noexcept;
  [[nodiscard]] Step read_part(std::span<char> bytes, const Limits& limits) noexcept;
  [[nodiscard]] Step read_line(std::string_view bytes, const Limits& limits) noexcept;
  [[nodiscard]] Step read_chunk_size(std::size_t most) noexcept;
  [[nodiscard]] Step read_data(std::span<char> bytes) noexcept;
  [[nodiscard]] Step read_data_end(std::string_view bytes) noexcept;
  [[nodiscard]] Step read_trailer() noexcept;

  Lines lines_;
  std::size_t start_ = 0;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::size_t left_ = 0;  // of the chunk that is being read
  Part part_ = Part::chunk_size;
  bool ended_ = false;
  Fault fault_{};
};

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
