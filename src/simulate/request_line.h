// The request as logs quote it: "GET /x?y HTTP/1.1". Pure, callable from anywhere.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "simulate/line_fault.h"

namespace weir::simulate {

struct RequestLine {
  std::string_view method;
  std::string_view target;
};

// Views into `request`. The protocol may be missing (HTTP/0.9), and a target may contain spaces, since some
// servers accept that. Faults: no_request, bad_request.
[[nodiscard]] tl::expected<RequestLine, Fault> split_request(std::string_view request) noexcept;

// Takes back what servers escape in a log: \xHH (nginx and Apache), \" \\ \b \n \r \t \v \f (Apache). Other
// backslashes stay as they are. Without any, it is `text` itself; otherwise it is written to `scratch`.
[[nodiscard]] std::string_view unescaped(std::string_view text, std::string& scratch);

}  // namespace weir::simulate
