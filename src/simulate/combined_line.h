// Lines of nginx's and Apache's common and combined logs:
//
//   1.2.3.4 - alice [10/Oct/2023:13:55:36 +0000] "GET /x?y HTTP/1.1" 200 123 "referer" "agent" and what trails
//
// and Apache's vhost_combined, which puts the host in front. The address may be IPv4, IPv6 or a host name; the
// user may contain spaces. nginx stamps a line with the end of its request, Apache with the beginning.
//
// Made to be quick (bench/simulate/read_log.cpp): memchr looks for what separates the parts, nothing is copied, and
// the date is read once a minute.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "simulate/log_entry.h"
#include "text/date.h"

namespace weir::simulate {

// The request as logs quote it: "GET /x?y HTTP/1.1".
struct RequestLine {
  std::string_view method;
  std::string_view target;
};

// Views into `request`. The protocol may be missing (HTTP/0.9), and a target may contain spaces, since some
// servers accept that. Faults: no_request, bad_request.
[[nodiscard]] tl::expected<RequestLine, Fault> split_request(std::string_view request) noexcept;

// What becomes of the two quoted texts at the end of a combined line: as headers they can be keys of limits.
enum class Tail : std::uint8_t { skipped, as_headers };

// One log; one thread. Allocates only where a log line has escapes, and then only to grow.
class CombinedLines {
 public:
  explicit CombinedLines(Tail tail = Tail::skipped) noexcept : tail_(tail) {}

  // `line` is without its line break. The entry holds until the next call, and as long as `line`.
  [[nodiscard]] Parsed parse(std::string_view line);

 private:
  void read_tail(std::string_view rest, LogEntry& entry);

  Tail tail_;
  text::ClfClock clock_;
  std::string user_;  // these four: what a text means whose line has escapes
  std::string target_;
  std::array<std::string, 2> header_texts_;
  std::array<Header, 2> headers_;
};

}  // namespace weir::simulate
