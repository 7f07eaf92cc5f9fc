// What a stranger may send over one HTTP/2 connection. Beyond it a request, or the connection, is refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::wire::http2 {

struct Limits {
  std::uint32_t streams = 256;                      // at a time
  std::size_t head_bytes = std::size_t{16} << 10;   // names and values of one request's header fields
  std::size_t body_bytes = std::size_t{64} << 10;   // of one request, as long as nobody takes of it
  std::size_t held_bytes = std::size_t{1} << 20;    // of all requests together that are not answered
  std::size_t unsent_bytes = std::size_t{1} << 20;  // of all answers together that the peer's windows hold back
  std::uint64_t resets = 2'000;                     // at once, by the peer;
  std::uint64_t resets_per_second = 500;            // and then so many
  std::uint64_t settings = 32;                      // entries of one SETTINGS frame
  std::size_t acknowledgements = 1'000;             // of PING and SETTINGS, that the peer did not take
};

}  // namespace weir::wire::http2
