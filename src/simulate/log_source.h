// Reads the lines of a log of any size.
//
//   auto source = LogSource::open("access.log.gz");     plain or gzip, detected by its first bytes; "-" is stdin
//   while (const auto line = source->next()) { ... }
//   if (source->error()) -> the log is incomplete; the lines before the error are valid
//
// Memory is bounded: a log is read in blocks of 1 MiB, and lines longer than `max_line_length` are skipped and counted.
// A line ends with LF or CRLF, which the last line may lack; a line truncated by an error is dropped. Empty lines and a
// byte order mark are skipped. Not thread-safe.
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

// The bytes of the file read so far, compressed bytes for a compressed file.
struct Progress {
  std::uint64_t consumed = 0;
  std::optional<std::uint64_t> total;  // unknown for a pipe
};

class LogSource {
 public:
  static constexpr std::size_t max_line_length = std::size_t{64} << 10;

  // Fails for directories and for compression other than gzip.
  [[nodiscard]] static Result<LogSource> open(const std::string& path);
  ~LogSource();
  LogSource(LogSource&&) noexcept;
  LogSource& operator=(LogSource&&) = delete;

  // Returns the next line, valid until the next call; absent at the end.
  [[nodiscard]] std::optional<std::string_view> next();

  // The number of the last line, from 1; includes skipped lines.
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
  std::size_t begin_ = 0;  // the unread part of the block
  std::size_t end_ = 0;
  bool skipping_ = false;  // inside an overlong line, already counted
  bool ended_ = false;
  std::uint64_t line_number_ = 0;
  std::uint64_t overlong_lines_ = 0;
  std::optional<Error> error_;
};

}  // namespace weir::simulate
