// A request and its response: one stream of an HTTP/2 connection. Owned by its Server, which reuses it for another
// stream afterwards.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/http2/request_fields.h"

namespace weir::wire::http2 {

// The limits of one HTTP/2 connection. The rest of a larger request is read and dropped, and the request has a fault
// (Exchange::fault); beyond the other limits the connection is closed. A proxy forwards the requests and resets of its
// own clients, so the limits are higher than what these clients can cause.
struct Limits {
  std::uint32_t streams = 1'024;                      // concurrent streams
  std::size_t head_bytes = std::size_t{128} << 10;    // names and values of one request's header fields
  std::size_t body_bytes = std::size_t{1} << 20;      // body bytes of one request not yet taken by take_body()
  std::size_t reserved_bytes = std::size_t{8} << 10;  // the buffer that each request may always use
  std::size_t buffered_bytes = std::size_t{8} << 20;  // what all requests together may use in addition
  std::size_t unsent_bytes = std::size_t{1} << 20;    // unsent bytes of all responses that wait for the peer's windows
  std::uint64_t resets = 1'000'000;                   // the burst of resets by the peer
  std::uint64_t resets_per_second = 1'000'000;        // the rate of resets by the peer
  std::uint64_t settings = 32;                        // entries of one SETTINGS frame
  std::size_t acknowledgements = 1'000;               // unsent acknowledgements of PING and SETTINGS
};

// A request with a fault is read to its end. The code that serves it chooses the response.
enum class Fault : std::uint8_t {
  none,
  head_too_large,
  malformed_field,  // the value of a field that framing does not depend on
  body_too_large,
};

class Exchange {
 public:
  // Empty if it was not sent. Valid until the exchange ends.
  [[nodiscard]] std::string_view field(Field field) const noexcept {
    const Range range = ranges_[static_cast<std::size_t>(field)];
    return std::string_view(text_).substr(range.begin, range.size);
  }

  // The received part of the body that was not taken. Valid until more is received.
  [[nodiscard]] std::string_view body() const noexcept { return std::string_view(body_).substr(taken_); }
  void take_body(std::size_t size) noexcept { taken_ += size; }

  // True if the whole request has been received.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  [[nodiscard]] Fault fault() const noexcept { return fault_; }

  // True if a response was started, or the stream was reset.
  [[nodiscard]] bool answered() const noexcept { return answered_; }
  // True if the stream is closed.
  [[nodiscard]] bool closed() const noexcept { return closed_; }

  // A tag for the code that serves the exchange. Initially zero.
  [[nodiscard]] std::uint32_t note() const noexcept { return note_; }
  void set_note(std::uint32_t note) noexcept { note_ = note; }

 private:
  friend class Server;

  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Trailer {
    std::string_view name;
    std::string value;
  };
  static constexpr std::size_t max_trailers = 2;

  void begin(std::int32_t stream) noexcept;
  void store(Field field, std::string_view value);
  // The first fault takes precedence.
  void set_fault(Fault fault) noexcept {
    if (fault_ == Fault::none) fault_ = fault;
  }
  [[nodiscard]] std::size_t buffered() const noexcept { return text_.size() + body_.size(); }
  // Clears the buffers and frees the memory of large ones.
  void forget() noexcept;

  std::int32_t stream_ = 0;
  std::uint32_t note_ = 0;
  std::size_t slot_ = 0;   // index in Server::open
  bool has_head_ = false;  // all header fields have been received
  bool complete_ = false;
  bool updated_ = false;  // the exchange is in Server::updated
  bool answered_ = false;
  bool ended_ = false;    // the response is complete
  bool waiting_ = false;  // nghttp2 has sent all of the reply so far and must be resumed
  bool closed_ = false;
  bool retained_ = false;  // set by Server::retain
  Fault fault_ = Fault::none;
  RequestShape shape_;
  std::size_t head_bytes_ = 0;
  std::array<Range, stored_fields> ranges_{};
  std::string text_;  // the values of the stored fields
  std::string body_;
  std::size_t taken_ = 0;  // the part of the body that was taken
  std::optional<std::chrono::steady_clock::time_point> seen_unfinished_;

  std::string reply_;
  std::size_t counted_ = 0;  // the part of the reply that is in Server::unsent_
  std::size_t sent_ = 0;
  std::array<Trailer, max_trailers> trailers_;
  std::size_t trailer_count_ = 0;
};

}  // namespace weir::wire::http2
