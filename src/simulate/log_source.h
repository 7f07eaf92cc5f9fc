// The lines of a log, one after the other, however long the log is.
//
//   auto source = LogSource::open("access.log.gz");     plain or gzip, told by its first bytes; "-" is stdin
//   while (const auto line = source->next()) { ... }
//   if (source->error()) -> the log ended early; the lines before that stand
//
// Memory is bounded: blocks of 1 MiB, and lines of more than `max_line_length` are skipped and counted. A line
// ends with LF or CRLF, the last one also without; one that an error cuts off is dropped. Empty lines and a byte
// order mark are passed over. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir::simulate {

// How much of the file has been read, for a progress bar: compressed bytes, where it is compressed.
struct Progress {
  std::uint64_t consumed = 0;
  std::optional<std::uint64_t> total;  // unknown for a pipe
};

class LogSource {
 public:
  static constexpr std::size_t max_line_length = std::size_t{64} << 10;

  // Refuses folders, and what is compressed in another way than gzip.
  [[nodiscard]] static Result<LogSource> open(const std::string& path);
  ~LogSource();
  LogSource(LogSource&&) noexcept;
  LogSource& operator=(LogSource&&) = delete;

  // A view that holds until the next call. Empty at the end.
  [[nodiscard]] std::optional<std::string_view> next();

  // Of the line that came last, from 1; lines that were skipped count.
  [[nodiscard]] std::uint64_t line_number() const noexcept { return line_number_; }
  [[nodiscard]] std::uint64_t overlong_lines() const noexcept { return overlong_lines_; }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  [[nodiscard]] Progress progress() const noexcept;

 private:
  class Bytes;

  explicit LogSource(std::unique_ptr<Bytes> bytes);

  [[nodiscard]] bool refill();
  [[nodiscard]] std::optional<std::string_view> last_line();
  [[nodiscard]] bool accept(std::string_view& line);

  std::unique_ptr<Bytes> bytes_;
  std::vector<char> block_;
  std::size_t begin_ = 0;  // what is in the block and has not been handed out
  std::size_t end_ = 0;
  bool skipping_ = false;  // in an overlong line, already counted
  bool ended_ = false;
  std::uint64_t line_number_ = 0;
  std::uint64_t overlong_lines_ = 0;
  std::optional<Error> error_;
};

}  // namespace weir::simulate
