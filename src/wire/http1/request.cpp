#include "wire/http1/request.h"

#include <array>

namespace weir::wire::http1 {
namespace {

struct Answer {
  Fault fault;
  unsigned status;
  std::string_view text;
};

constexpr std::array answers{
    Answer{Fault::malformed_line, 400, "lines have to end in CRLF and hold no other control characters"},
    Answer{Fault::malformed_request_line, 400, "the request line has to be METHOD TARGET HTTP/1.1, one space between"},
    Answer{Fault::method_too_long, 400, "the name of the method is too long"},
    Answer{Fault::target_too_long, 414, "the request target is too long"},
    Answer{Fault::unsupported_version, 400, "only HTTP/1.1 and HTTP/1.0 are spoken here"},
    Answer{Fault::malformed_header, 400, "a header has to be NAME: VALUE on one line, no space before the colon"},
    Answer{Fault::head_too_large, 431, "the headers are too large"},
    Answer{Fault::too_many_headers, 431, "there are too many headers"},
    Answer{Fault::missing_host, 400, "HTTP/1.1 requires a Host header"},
    Answer{Fault::repeated_host, 400, "there is more than one Host header"},
    Answer{Fault::malformed_host, 400, "the Host header is not a host with an optional port"},
    Answer{Fault::repeated_length, 400, "there is more than one Content-Length"},
    Answer{Fault::malformed_length, 400, "Content-Length has to be digits only"},
    Answer{Fault::length_and_encoding, 400, "Content-Length and Transfer-Encoding exclude each other"},
    Answer{Fault::repeated_encoding, 400, "there is more than one Transfer-Encoding"},
    Answer{Fault::unsupported_encoding, 400, "the only Transfer-Encoding spoken here is chunked"},
    Answer{Fault::encoding_in_http_1_0, 400, "HTTP/1.0 has no Transfer-Encoding"},
    Answer{Fault::body_too_large, 413, "the body is too large"},
    Answer{Fault::malformed_chunk, 400, "the chunked body is malformed"},
    Answer{Fault::chunks_too_small, 413, "the chunks of the body hold more framing than data"},
};

consteval bool is_in_order() {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (static_cast<std::size_t>(answers[i].fault) != i) return false;
  }
  return answers.size() == static_cast<std::size_t>(Fault::chunks_too_small) + 1;
}
static_assert(is_in_order(), "one answer for each fault, in the order of the faults");

}  // namespace

unsigned status_of(Fault fault) noexcept {
  return answers[static_cast<std::size_t>(fault)].status;
}

std::string_view text_of(Fault fault) noexcept {
  return answers[static_cast<std::size_t>(fault)].text;
}

}  // namespace weir::wire::http1
