// What a stranger may send over one HTTP/2 connection. Of a request that is larger the rest is read and dropped, and it
// is faulty (Exchange::fault); beyond the other bounds the connection is ended. A proxy passes on what its own clients
// send and give up, so the bounds are beyond what they can make it do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::wire::http2 {

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

}  // namespace weir::wire::http2
