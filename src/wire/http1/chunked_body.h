// A chunked body (RFC 9112, 7.1), put together in place: the data of its chunks moves together, over what
// framed them. A body of one chunk does not move at all.
//
// Sizes are hexadecimal digits and nothing else; extensions are passed over, trailers are read and dropped.
// What is not data is bounded by the data and the size of one head: a flood of tiny chunks is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/http1/lines.h"
#include "wire/http1/request.h"

namespace weir::wire::http1 {

class ChunkedBody {
 public:
  ChunkedBody() = default;
  explicit ChunkedBody(std::size_t at) noexcept : lines_(at), start_(at), begin_(at) {}

  // `bytes` are those of earlier calls, as they were left (they may have moved as a whole), and what has come since.
  [[nodiscard]] Step read(std::span<char> bytes, const Limits& limits) noexcept;

  [[nodiscard]] Fault fault() const noexcept { return fault_; }  // once refused

  // Where it lies so far. Never beyond what was read.
  [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Where reading goes on; once complete, where the next request begins.
  [[nodiscard]] std::size_t end() const noexcept { return lines_.at(); }

 private:
  enum class Part : std::uint8_t { chunk_size, data, data_end, trailer };

  [[nodiscard]] Step refuse(Fault fault) noexcept;
  [[nodiscard]] Step read_part(std::span<char> bytes, const Limits& limits) noexcept;
  [[nodiscard]] Step read_line(std::string_view bytes, const Limits& limits) noexcept;
  [[nodiscard]] Step read_chunk_size(std::size_t most) noexcept;
  [[nodiscard]] Step read_data(std::span<char> bytes) noexcept;
  [[nodiscard]] Step read_data_end(std::string_view bytes) noexcept;
  [[nodiscard]] Step read_trailer() noexcept;

  Lines lines_;
  std::size_t start_ = 0;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  std::size_t left_ = 0;  // of the chunk that is being read
  Part part_ = Part::chunk_size;
  bool ended_ = false;
  Fault fault_{};
};

}  // namespace weir::wire::http1
