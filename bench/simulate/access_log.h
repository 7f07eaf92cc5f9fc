// The access log of a busy API behind nginx: combined lines, in order, about 2,000 per second.
//
// Addresses have a Zipf distribution (50,000, exponent 0.99), a third of the requests are signed in, routes are drawn
// by weight with new numbers, and one line in 5,000 is not a request. Every run produces the same bytes.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "table/zipf.h"

namespace bench::simulate {

class AccessLog {
 public:
  AccessLog();

  // The result includes the line break.
  void append_line(std::string& log);

 private:
  void append_client(std::string& log);
  void append_time(std::string& log);
  void append_request(std::string& log);
  void append_tail(std::string& log);
  [[nodiscard]] std::uint32_t below(std::uint32_t bound);

  std::mt19937_64 random_;
  bench::table::Zipf address_;
  std::uint64_t micros_;
};

}  // namespace bench::simulate
