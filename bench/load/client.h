// Loads a server from one thread: a number of connections, each with a constant number of requests in flight.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "load/protocol.h"
#include "load/tally.h"

namespace bench::load {

struct Extent {
  std::uint16_t port = 0;  // of 127.0.0.1
  std::size_t connections = 1;
  std::size_t pipeline = 1;
  std::uint32_t keys = max_keys;
  std::chrono::nanoseconds time{};  // no request starts afterwards
  std::uint64_t requests = 0;       // the maximum in total; 0 is unlimited
};

struct Result {
  Tally tally;
  std::chrono::nanoseconds time{};       // from the first request to the last response
  std::chrono::nanoseconds processor{};  // of the client
};

// Throws WrongAnswer and std::system_error.
[[nodiscard]] Result run(const Extent& extent, const MakeProtocol& make_protocol);

}  // namespace bench::load
