#include "wire/http1/request_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/hex.h"

namespace weir::wire::http1 {
namespace {

struct Answer {
  Fault fault;
  unsigned status;
  std::string_view text;
};

constexpr std::array answers{
    Answer{Fault::malformed_line, 400, "lines must end in CRLF and contain no other control characters"},
    Answer{Fault::malformed_request_line, 400, "the request line must be METHOD TARGET HTTP/1.1 with single spaces"},
    Answer{Fault::method_too_long, 400, "the method is too long"},
    Answer{Fault::target_too_long, 414, "the request target is too long"},
    Answer{Fault::unsupported_version, 400, "only HTTP/1.1 and HTTP/1.0 are supported"},
    Answer{Fault::malformed_header, 400, "a header must be NAME: VALUE on one line, without a space before the colon"},
    Answer{Fault::head_too_large, 431, "the headers are too large"},
    Answer{Fault::too_many_headers, 431, "too many headers"},
    Answer{Fault::missing_host, 400, "HTTP/1.1 requires a Host header"},
    Answer{Fault::repeated_host, 400, "duplicate Host header"},
    Answer{Fault::malformed_host, 400, "the Host header is not a host with an optional port"},
    Answer{Fault::repeated_length, 400, "duplicate Content-Length header"},
    Answer{Fault::malformed_length, 400, "Content-Length must consist of digits"},
    Answer{Fault::length_and_encoding, 400, "Content-Length and Transfer-Encoding exclude each other"},
    Answer{Fault::repeated_encoding, 400, "duplicate Transfer-Encoding header"},
    Answer{Fault::unsupported_encoding, 400, "the only supported Transfer-Encoding is chunked"},
    Answer{Fault::encoding_in_http_1_0, 400, "HTTP/1.0 does not support Transfer-Encoding"},
    Answer{Fault::body_too_large, 413, "the body is too large"},
    Answer{Fault::malformed_chunk, 400, "the chunked body is malformed"},
    Answer{Fault::chunks_too_small, 413, "the chunked body has more framing than data"},
};

consteval bool is_in_order() {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (static_cast<std::size_t>(answers[i].fault) != i) return false;
  }
  return answers.size() == static_cast<std::size_t>(Fault::chunks_too_small) + 1;
}
static_assert(is_in_order(), "one answer for each fault, in the order of the faults");

std::string_view text(std::span<const char> bytes) noexcept {
  return {bytes.data(), bytes.size()};
}

constexpr std::size_t max_method_length = 256;
constexpr std::string_view version_prefix = "HTTP/1.";
constexpr std::size_t version_length = version_prefix.size() + 1;
// The size of the request line without its target, including two spaces, the line end, and an empty line before it.
constexpr std::size_t request_line_frame = max_method_length + 2 + version_length + 2 + 2;

constexpr bool is_version(std::string_view text) noexcept {
  return text.size() == version_length && text.starts_with("HTTP/") && base::is_digit(text[5]) && text[6] == '.' &&
         base::is_digit(text[7]);
}

constexpr std::size_t max_size_digits = 16;

// Parses `1f` or `1f;extension`. Rejects a sign, a prefix, and whitespace before the semicolon.
constexpr std::optional<std::size_t> chunk_size(std::string_view line) noexcept {
  std::size_t size = 0;
  std::size_t digits = 0;
  for (; digits < line.size() && line[digits] != ';'; ++digits) {
    const int digit = base::hex_value(line[digits]);
    if (digit < 0 || digits == max_size_digits) return {};
    size = size * 16 + static_cast<unsigned>(digit);
  }
  return digits > 0 ? std::optional{size} : std::nullopt;
}

}  // namespace

unsigned status_of(Fault fault) noexcept {
  return answers[static_cast<std::size_t>(fault)].status;
}

std::string_view text_of(Fault fault) noexcept {
  return answers[static_cast<std::size_t>(fault)].text;
}

Step RequestHead::read(std::string_view bytes, const Limits& limits, std::span<Header> room) noexcept {
  const bool resumed = lines_.at() > 0;
  const std::size_t first_line = std::min(limits.head_bytes, limits.target_bytes + request_line_frame);
  for (;;) {
    const bool is_first = !has(request_line);
    switch (lines_.next(bytes, is_first ? first_line : limits.head_bytes)) {
      case Lines::Found::need_more:
        return Step::need_more;
      case Lines::Found::too_long:
        fault_ = is_first ? Fault::target_too_long : Fault::head_too_large;
        return Step::refused;
      case Lines::Found::malformed:
        fault_ = Fault::malformed_line;
        return Step::refused;
      case Lines::Found::line:
        break;
    }
    if (!lines_.line().empty() || is_first) {
      if (!read_line(limits, room)) return Step::refused;
      continue;
    }
    if (!is_consistent(limits)) return Step::refused;
    if (!resumed) return Step::complete;
    // Views into the buffer of an earlier call are invalid, so the complete head is parsed again.
    *this = RequestHead{};
    return read(bytes, limits, room);
  }
}

bool RequestHead::expects_continue() const noexcept {
  return has(expect_continue) && version_ == Version::http_1_1;
}

Request RequestHead::request(std::span<const Header> room) const noexcept {
  const bool persists = version_ == Version::http_1_1 || has(keep_alive);
  return {.method = method_,
          .target = target_,
          .version = version_,
          .keep_alive = persists && !has(close),
          .host = host_,
          .headers = room.first(headers_)};
}

bool RequestHead::refuse(Fault fault) noexcept {
  fault_ = fault;
  return false;
}

bool RequestHead::read_line(const Limits& limits, std::span<Header> room) noexcept {
  const std::string_view line = lines_.line();
  if (!has(request_line)) {
    // Some old clients end a body with a CRLF that is not counted in its length (RFC 9112, 2.2).
    if (line.empty() && lines_.at() == 2) return true;
    return read_request_line(line, limits.target_bytes);
  }
  if (headers_ == std::min(limits.headers, room.size())) return refuse(Fault::too_many_headers);
  Header& header = room[headers_];
  if (!read_header(line, header)) return false;
  ++headers_;
  return apply(header);
}

bool RequestHead::read_request_line(std::string_view line, std::size_t max_target_length) noexcept {
  const std::size_t method = token_bytes.run(line);
  if (method == 0 || method == line.size() || line[method] != ' ') return refuse(Fault::malformed_request_line);
  if (method > max_method_length) return refuse(Fault::method_too_long);
  const std::string_view rest = line.substr(method + 1);
  if (rest.size() < version_length + 2) return refuse(Fault::malformed_request_line);
  const std::string_view version = rest.substr(rest.size() - version_length);
  const std::string_view target = rest.substr(0, rest.size() - version_length - 1);
  if (rest[target.size()] != ' ' || !is_version(version)) return refuse(Fault::malformed_request_line);
  if (target.find(' ') != std::string_view::npos || target.find('\t') != std::string_view::npos) {
    return refuse(Fault::malformed_request_line);
  }
  if (target.size() > max_target_length) return refuse(Fault::target_too_long);
  const char minor = version.back();
  if (!version.starts_with(version_prefix) || minor > '1') return refuse(Fault::unsupported_version);
  version_ = minor == '0' ? Version::http_1_0 : Version::http_1_1;
  method_ = line.substr(0, method);
  target_ = target;
  set(request_line);
  return true;
}

bool RequestHead::read_header(std::string_view line, Header& header) noexcept {
  const std::size_t name = token_bytes.run(line);
  if (name == 0 || name == line.size() || line[name] != ':') return refuse(Fault::malformed_header);
  header = {.name = line.substr(0, name), .value = base::trimmed(line.substr(name + 1))};
  return true;
}

// Handles the headers that affect framing. Most names are distinguished by their length.
bool RequestHead::apply(const Header& header) noexcept {
  switch (header.name.size()) {
    case 4:
      return !base::equals_name(header.name, "host") || apply_host(header.value);
    case 6:
      if (base::equals_name(header.name, "expect") && base::equals_name(header.value, "100-continue")) {
        set(expect_continue);
      }
      return true;
    case 10:
      if (base::equals_name(header.name, "connection")) apply_connection(header.value);
      return true;
    case 14:
      return !base::equals_name(header.name, "content-length") || apply_length(header.value);
    case 17:
      return !base::equals_name(header.name, "transfer-encoding") || apply_encoding(header.value);
    default:
      return true;
  }
}

bool RequestHead::apply_host(std::string_view value) noexcept {
  if (has(host)) return refuse(Fault::repeated_host);
  if (host_bytes.run(value) != value.size()) return refuse(Fault::malformed_host);
  host_ = value;
  set(host);
  return true;
}

bool RequestHead::apply_length(std::string_view value) noexcept {
  if (has(length)) return refuse(Fault::repeated_length);
  if (has(chunked)) return refuse(Fault::length_and_encoding);
  if (value.empty() || !std::ranges::all_of(value, base::is_digit)) return refuse(Fault::malformed_length);
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  for (const char c : value) {
    const auto digit = static_cast<std::size_t>(c - '0');
    content_length_ = content_length_ > (largest - digit) / 10 ? largest : content_length_ * 10 + digit;
  }
  set(length);
  return true;
}

bool RequestHead::apply_encoding(std::string_view value) noexcept {
  if (has(chunked)) return refuse(Fault::repeated_encoding);
  if (has(length)) return refuse(Fault::length_and_encoding);
  if (version_ == Version::http_1_0) return refuse(Fault::encoding_in_http_1_0);
  if (!base::equals_name(value, "chunked")) return refuse(Fault::unsupported_encoding);
  set(chunked);
  return true;
}

void RequestHead::apply_connection(std::string_view value) noexcept {
  for (;;) {
    const std::size_t comma = value.find(',');
    const std::string_view option = base::trimmed(value.substr(0, comma));
    if (base::equals_name(option, "close")) set(close);
    if (base::equals_name(option, "keep-alive")) set(keep_alive);
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

bool RequestHead::is_consistent(const Limits& limits) noexcept {
  if (version_ == Version::http_1_1 && !has(host)) return refuse(Fault::missing_host);
  if (content_length_ > limits.body_bytes) return refuse(Fault::body_too_large);
  return true;
}

Step ChunkedBody::read(std::span<char> bytes, const Limits& limits) noexcept {
  while (!ended_) {
    const Step step = read_part(bytes, limits);
    if (step != Step::complete) return step;
  }
  return Step::complete;
}

Step ChunkedBody::refuse(Fault fault) noexcept {
  fault_ = fault;
  return Step::refused;
}

Step ChunkedBody::read_part(std::span<char> bytes, const Limits& limits) noexcept {
  switch (part_) {
    case Part::data:
      return read_data(bytes);
    case Part::data_end:
      return read_data_end(text(bytes));
    case Part::chunk_size:
    case Part::trailer:
      break;
  }
  return read_line(text(bytes), limits);
}

Step ChunkedBody::read_line(std::string_view bytes, const Limits& limits) noexcept {
  switch (lines_.next(bytes, start_ + 2 * size_ + limits.head_bytes)) {
    case Lines::Found::need_more:
      return Step::need_more;
    case Lines::Found::too_long:
      return refuse(Fault::chunks_too_small);
    case Lines::Found::malformed:
      return refuse(Fault::malformed_chunk);
    case Lines::Found::line:
      break;
  }
  return part_ == Part::trailer ? read_trailer() : read_chunk_size(limits.body_bytes);
}

Step ChunkedBody::read_chunk_size(std::size_t max_size) noexcept {
  const auto size = chunk_size(lines_.line());
  if (!size) return refuse(Fault::malformed_chunk);
  if (*size > max_size - size_) return refuse(Fault::body_too_large);
  left_ = *size;
  part_ = left_ > 0 ? Part::data : Part::trailer;
  return Step::complete;
}

Step ChunkedBody::read_data(std::span<char> bytes) noexcept {
  const std::size_t at = lines_.at();
  const std::size_t length = std::min(left_, bytes.size() - at);
  if (size_ == 0) begin_ = at;
  if (begin_ + size_ != at) std::memmove(bytes.data() + begin_ + size_, bytes.data() + at, length);
  size_ += length;
  left_ -= length;
  lines_ = Lines(at + length);
  if (left_ > 0) return Step::need_more;
  part_ = Part::data_end;
  return Step::complete;
}

Step ChunkedBody::read_data_end(std::string_view bytes) noexcept {
  const std::string_view end = bytes.substr(lines_.at(), 2);
  if (!std::string_view{"\r\n"}.starts_with(end)) return refuse(Fault::malformed_chunk);
  if (end.size() < 2) return Step::need_more;
  lines_ = Lines(lines_.at() + 2);
  part_ = Part::chunk_size;
  return Step::complete;
}

// Trailers are dropped but validated, because a line that is not a header may be a smuggled request.
Step ChunkedBody::read_trailer() noexcept {
  const std::string_view line = lines_.line();
  if (line.empty()) {
    ended_ = true;
    return Step::complete;
  }
  const std::size_t name = token_bytes.run(line);
  if (name == 0 || name == line.size() || line[name] != ':') return refuse(Fault::malformed_chunk);
  return Step::complete;
}

Progress RequestParser::next(std::span<char> bytes, std::span<Header> room) noexcept {
  if (stage_ == Stage::refused) return refuse(fault_);
  if (stage_ == Stage::body) return read_body(bytes, room, false);
  if (stage_ == Stage::idle) {
    if (bytes.empty()) return {};
    // A lone empty line may belong to the previous request.
    if (std::string_view("\r\n").starts_with(text(bytes))) return {.at_least = bytes.size() + 1};
    stage_ = Stage::head;
    head_ = RequestHead{};
  }
  const Step step = head_.read(text(bytes), limits_, room);
  if (step == Step::refused) return refuse(head_.fault());
  if (step == Step::need_more) return {.at_least = bytes.size() + 1};
  stage_ = Stage::body;
  continue_reported_ = false;
  if (head_.is_chunked()) chunks_ = ChunkedBody(head_.size());
  return read_body(bytes, room, true);
}

Progress RequestParser::refuse(Fault fault) noexcept {
  stage_ = Stage::refused;
  fault_ = fault;
  return {.step = Step::refused, .fault = fault};
}

Progress RequestParser::read_body(std::span<char> bytes, std::span<Header> room, bool is_head_fresh) noexcept {
  std::size_t begin = head_.size();
  std::size_t size = head_.content_length();
  std::size_t end = begin + size;
  if (head_.is_chunked()) {
    const Step step = chunks_.read(bytes, limits_);
    if (step == Step::refused) return refuse(chunks_.fault());
    if (step == Step::need_more) return need_body(bytes.size(), bytes.size() + 1);
    begin = chunks_.begin();
    size = chunks_.size();
    end = chunks_.end();
  } else if (bytes.size() < end) {
    return need_body(bytes.size(), end);
  }
  if (!is_head_fresh) {
    // The views of an earlier call are invalid, so the unchanged head is parsed again.
    head_ = RequestHead{};
    if (head_.read(text(bytes), limits_, room) != Step::complete) return refuse(head_.fault());
  }
  stage_ = Stage::idle;
  Progress progress{.step = Step::complete, .consumed = end, .request = head_.request(room)};
  progress.request.body = text(bytes.subspan(begin, size));
  return progress;
}

// A client that has started to send its body does not wait for `100 Continue`.
Progress RequestParser::need_body(std::size_t bytes_there, std::size_t at_least) noexcept {
  const bool report = head_.expects_continue() && !continue_reported_ && bytes_there == head_.size();
  continue_reported_ = true;
  return {.at_least = at_least, .expects_continue = report};
}

}  // namespace weir::wire::http1
