#include "wire/http1/chunked_body.h"

#include <algorithm>
#include <cstring>

namespace weir::wire::http1 {
namespace {

constexpr std::size_t most_size_digits = 16;

constexpr std::optional<std::size_t> hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<std::size_t>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<std::size_t>(lower - 'a') + 10;
  return {};
}

// `1f` or `1f;extension`: no sign, no prefix, no whitespace before the semicolon.
constexpr std::optional<std::size_t> chunk_size(std::string_view line) noexcept {
  std::size_t size = 0;
  std::size_t digits = 0;
  for (; digits < line.size() && line[digits] != ';'; ++digits) {
    const auto digit = hex_digit(line[digits]);
    if (!digit || digits == most_size_digits) return {};
    size = size * 16 + *digit;
  }
  return digits > 0 ? std::optional{size} : std::nullopt;
}

}  // namespace

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

Step ChunkedBody::read_chunk_size(std::size_t most) noexcept {
  const auto size = chunk_size(lines_.line());
  if (!size) return refuse(Fault::malformed_chunk);
  if (*size > most - size_) return refuse(Fault::body_too_large);
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

// Nobody asked for trailers, so they are dropped; yet a line that is no header might be someone's next request.
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

}  // namespace weir::wire::http1
