// Parses the requests of one connection (HTTP/1.1 and 1.0, RFC 9112), pipelined or in pieces of any size.
//
//   RequestParser parser(limits);
//   std::vector<Header> room(limits.headers);
//   for (;;) {                                 // `bytes`: all unconsumed input
//     const Progress progress = parser.next(bytes, room);
//     if (progress.step != Step::complete) break;
//     answer(progress.request);
//     bytes = bytes.subspan(progress.consumed);
//   }
//
// The parser stores offsets, not bytes: until a request is complete, the caller passes its bytes again, unmodified and
// together with new input; they may move as a whole. The result depends only on the bytes, not on how they were split.
// To decide several requests as one batch, pass each its own part of a larger `room`. After a fault the parser rejects
// everything: send status_of(fault) and close the connection. After a request whose keep_alive is false, drop what
// follows.
//
// Allocates nothing. Use one parser per connection. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/http1/lines.h"
#include "wire/http1/request.h"

namespace weir::wire::http1 {

enum class Step : std::uint8_t { complete, need_more, refused };

// Parses the head of a request: the request line, the headers, and what they imply for the body and the connection.
//
// Ambiguous requests are rejected to prevent request smuggling (RFC 9112, 11.2): duplicate lengths, a length together
// with an encoding, and lines that only a lenient parser would accept.
class RequestHead {
 public:
  // `bytes` begins with the head, including the bytes of earlier calls, unchanged but possibly moved. `room` is for the
  // headers and must have the same size in each call. Once complete, all views are into these `bytes` and `room`.
  [[nodiscard]] Step read(std::string_view bytes, const Limits& limits, std::span<Header> room) noexcept;

  [[nodiscard]] Fault fault() const noexcept { return fault_; }  // valid once refused

  // These are valid once complete.
  [[nodiscard]] std::size_t size() const noexcept { return lines_.at(); }
  [[nodiscard]] bool is_chunked() const noexcept { return has(chunked); }
  [[nodiscard]] std::size_t content_length() const noexcept { return content_length_; }  // zero if absent
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
    expect_continue = 1 << 6,
  };

  [[nodiscard]] bool has(Trait trait) const noexcept { return (traits_ & trait) != 0; }
  void set(Trait trait) noexcept { traits_ = static_cast<std::uint8_t>(traits_ | trait); }
  [[nodiscard]] bool refuse(Fault fault) noexcept;

  // These return false if they reject the request.
  [[nodiscard]] bool read_line(const Limits& limits, std::span<Header> room) noexcept;
  [[nodiscard]] bool read_request_line(std::string_view line, std::size_t max_target_length) noexcept;
  [[nodiscard]] bool read_header(std::string_view line, Header& header) noexcept;
  [[nodiscard]] bool apply(const Header& header) noexcept;
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

// Decodes a chunked body (RFC 9112, 7.1) in place: chunk data is moved over the framing. A body of one chunk is not
// moved.
//
// A size consists of hexadecimal digits only. Extensions are skipped; trailers are validated and dropped. Framing may
// not exceed the data plus the size of one head, so a flood of tiny chunks is rejected.
class ChunkedBody {
 public:
  ChunkedBody() = default;
  explicit ChunkedBody(std::size_t at) noexcept : lines_(at), start_(at), begin_(at) {}

  // `bytes` is what earlier calls left (the bytes may have moved as a whole), followed by new input.
  [[nodiscard]] Step read(std::span<char> bytes, const Limits& limits) noexcept;

  [[nodiscard]] Fault fault() const noexcept { return fault_; }  // valid once refused

  // The range of the decoded data so far.
  [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // The read position; once complete, the start of the next request.
  [[nodiscard]] std::size_t end() const noexcept { return lines_.at(); }

 private:
  enum class Part : std::uint8_t { chunk_size, data, data_end, trailer };

  [[nodiscard]] Step refuse(Fault fault) noexcept;
  [[nodiscard]] Step read_part(std::span<char> bytes, const Limits& limits) noexcept;
  [[nodiscard]] Step read_line(std::string_view bytes, const Limits& limits) noexcept;
  [[nodiscard]] Step read_chunk_size(std::size_t max_size) noexcept;
  [[nodiscard]] Step read_data(std::span<char> bytes) noexcept;
  [[nodiscard]] Step read_data_end(std::string_view bytes) noexcept;
  [[nodiscard]] Step read_trailer() noexcept;

  Lines lines_;
  std::size_t start_ = 0;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::size_t left_ = 0;  // bytes remaining in the current chunk
  Part part_ = Part::chunk_size;
  bool ended_ = false;
  Fault fault_{};
};

struct Progress {
  Step step = Step::need_more;

  // Set for a complete request, which starts at the first byte.
  std::size_t consumed = 0;
  Request request{};

  // Set for need_more: the known minimum size of the request.
  std::size_t at_least = 0;
  bool expects_continue = false;  // true once: the client waits for `100 Continue` before it sends the body

  // Set if refused.
  Fault fault{};
};

class RequestParser {
 public:
  // What the parser waits for. Each stage has its own timeout.
  enum class Stage : std::uint8_t { idle, head, body, refused };

  explicit RequestParser(const Limits& limits = {}) noexcept : limits_(limits) {}

  // The request's headers are written to `room`. If `room` is smaller than Limits::headers, its size is the limit.
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
  bool continue_reported_ = false;
  RequestHead head_;
  ChunkedBody chunks_;
};

}  // namespace weir::wire::http1
