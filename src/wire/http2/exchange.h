// A request on its way in, and its answer on its way out: one stream of an HTTP/2 connection. Belongs to its Server,
// which uses it again for another stream when this one is over.
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

// What a stranger may send over one HTTP/2 connection. Of a request that is larger the rest is read and dropped, and it
// is faulty (Exchange::fault); beyond the other bounds the connection is ended. A proxy passes on what its own clients
// send and give up, so the bounds are beyond what they can make it do.
struct Limits {
  std::uint32_t streams = 1'024;                      // at a time
  std::size_t head_bytes = std::size_t{128} << 10;    // names and values of one request's header fields
  std::size_t body_bytes = std::size_t{1} << 20;      // of one request, as long as nobody takes of it
  std::size_t reserved_bytes = std::size_t{8} << 10;  // what each request may hold, whatever the others do;
  std::size_t held_bytes = std::size_t{8} << 20;      // and beyond that all together that are not answered
  std::size_t unsent_bytes = std::size_t{1} << 20;    // of all answers together that the peer's windows hold back
  std::uint64_t resets = 1'000'000;                   // at once, by the peer, whose own clients may cause them;
  std::uint64_t resets_per_second = 1'000'000;        // and then so many
  std::uint64_t settings = 32;                        // entries of one SETTINGS frame
  std::size_t acknowledgements = 1'000;               // of PING and SETTINGS, that the peer did not take
};

// A faulty request is read to its end. Whoever serves it chooses its answer.
enum class Fault : std::uint8_t {
  none,
  head_too_large,
  malformed_field,  // the value of a field on which nothing depends; HTTP calls the request malformed for it
  body_too_large,
};

class Exchange {
 public:
  // Empty if it was not sent. Good until the exchange is over.
  [[nodiscard]] std::string_view field(Field field) const noexcept {
    const Place place = places_[static_cast<std::size_t>(field)];
    return std::string_view(text_).substr(place.begin, place.size);
  }

  // What came of the body and was not taken. Good until more is received.
  [[nodiscard]] std::string_view body() const noexcept { return std::string_view(body_).substr(taken_); }
  void take_body(std::size_t size) noexcept { taken_ += size; }

  // All of the request is here.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  [[nodiscard]] Fault fault() const noexcept { return fault_; }

  // An answer was begun; nothing more is to be said to it.
  [[nodiscard]] bool answered() const noexcept { return answered_; }
  // The peer gave it up.
  [[nodiscard]] bool gone() const noexcept { return gone_; }

  // For whoever serves it, to know it by later. Zero at first.
  [[nodiscard]] std::uint32_t note() const noexcept { return note_; }
  void set_note(std::uint32_t note) noexcept { note_ = note; }

 private:
  friend class Server;

  struct Place {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Trailer {
    std::string_view name;
    std::string value;
  };
  static constexpr std::size_t max_trailers = 2;

  void begin(std::int32_t stream) noexcept;
  void keep(Field field, std::string_view value);
  // The first one counts.
  void set_fault(Fault fault) noexcept {
    if (fault_ == Fault::none) fault_ = fault;
  }
  [[nodiscard]] std::size_t held() const noexcept { return text_.size() + body_.size(); }
  // What a large request needed is not kept for a small one.
  void forget() noexcept;

  std::int32_t stream_ = 0;
  std::uint32_t note_ = 0;
  std::size_t slot_ = 0;  // of Server::open
  bool headed_ = false;   // the header fields are all here
  bool complete_ = false;
  bool updated_ = false;  // is among Server::updated
  bool answered_ = false;
  bool ended_ = false;    // the answer is whole
  bool waiting_ = false;  // nghttp2 has sent all of the reply, and is to be told of more
  bool gone_ = false;
  bool kept_ = false;  // Server::keep
  Fault fault_ = Fault::none;
  RequestShape shape_;
  std::size_t head_bytes_ = 0;
  std::array<Place, kept_fields> places_{};
  std::string text_;  // of the fields
  std::string body_;
  std::size_t taken_ = 0;  // of the body
  std::optional<std::chrono::steady_clock::time_point> seen_unfinished_;

  std::string reply_;
  std::size_t counted_ = 0;  // of the reply: what the server knows of
  std::size_t sent_ = 0;
  std::array<Trailer, max_trailers> trailers_;
  std::size_t trailer_count_ = 0;
};

}  // namespace weir::wire::http2
