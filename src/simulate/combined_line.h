// Parses lines of nginx's and Apache's common and combined logs:
//
//   1.2.3.4 - alice [10/Oct/2023:13:55:36 +0000] "GET /x?y HTTP/1.1" 200 123 "referer" "agent" ...
//
// and Apache's vhost_combined, which starts with the host. The address may be IPv4, IPv6 or a host name; the user may
// contain spaces. nginx stamps a line with the end of its request, Apache with the start.
//
// Optimized for speed (bench/simulate/read_log.cpp): memchr finds the separators, nothing is copied, and the date is
// parsed once per minute.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "simulate/log_entry.h"
#include "text/date.h"

namespace weir::simulate {

// A quoted request of a log: "GET /x?y HTTP/1.1".
struct RequestLine {
  std::string_view method;
  std::string_view target;
};

// Returns views into `request`. The protocol may be missing (HTTP/0.9), and a target may contain spaces, because some
// servers accept them. Faults: no_request, bad_request.
[[nodiscard]] tl::expected<RequestLine, Fault> split_request(std::string_view request) noexcept;

// How the two quoted texts at the end of a combined line are used. As headers they can be keys of limits.
enum class Tail : std::uint8_t { skipped, as_headers };

// The parser of one log. Not thread-safe. Allocates only for lines with escapes, and then only to grow.
class CombinedLines {
 public:
  explicit CombinedLines(Tail tail = Tail::skipped) noexcept : tail_(tail) {}

  // `line` has no line break. The entry is valid until the next call and as long as `line`.
  [[nodiscard]] Parsed parse(std::string_view line);

 private:
  void read_tail(std::string_view rest, LogEntry& entry);

  Tail tail_;
  text::ClfClock clock_;
  std::string user_;  // these buffers hold unescaped texts
  std::string target_;
  std::array<std::string, 2> header_texts_;
  std::array<Header, 2> headers_;
};

}  // namespace weir::simulate
