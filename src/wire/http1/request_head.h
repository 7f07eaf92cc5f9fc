// The head of a request: the request line, the headers, and what they say about the body and the connection.
//
// Reads a buffer that fills up, a line as soon as it is there. Nothing that two readers could take for different
// requests gets through (RFC 9112, 11.2): not two lengths, nor a length and an encoding, nor a lenient line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/http1/lines.h"
#include "wire/http1/request.h"

namespace weir::wire::http1 {

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
  [[nodiscard]] bool read_request_line(std::string_view line, std::size_t longest_target) noexcept;
  [[nodiscard]] bool read_header(std::string_view line, Header& header) noexcept;
  [[nodiscard]] bool heed(const Header& header) noexcept;
  [[nodiscard]] bool heed_host(std::string_view value) noexcept;
  [[nodiscard]] bool heed_length(std::string_view value) noexcept;
  [[nodiscard]] bool heed_encoding(std::string_view value) noexcept;
  void heed_connection(std::string_view value) noexcept;
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

}  // namespace weir::wire::http1
