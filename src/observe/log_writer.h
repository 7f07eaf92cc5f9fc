// Writes log lines on its own thread, so that no decision waits for a disk or a pipe.
//
// Pending lines are buffered up to a maximum. Lines beyond it, and lines that cannot be written, are dropped and
// counted. write() copies a line under a mutex that is never locked while the file is written.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "weir/result.h"

namespace weir::observe {

// A file that is appended to, or standard error. Not thread-safe.
class LogFile {
 public:
  // An empty path means standard error. A missing file is created, readable by its owner and group.
  [[nodiscard]] static Result<LogFile> open(const std::string& path);

  // Owns the descriptor, but never closes standard error.
  explicit LogFile(int descriptor) noexcept : descriptor_(descriptor) {}
  LogFile(LogFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  LogFile& operator=(LogFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~LogFile();

  // Writes whole lines in pieces that a pipe accepts atomically, so that lines of several processes do not mix. While a
  // pipe is full, waits, and calls `gives_up` ten times per second. Returns the number of bytes written.
  [[nodiscard]] std::size_t write(std::string_view lines, const std::function<bool()>& gives_up) noexcept;

 private:
  // False if the file cannot be written to.
  [[nodiscard]] bool wait(const std::function<bool()>& gives_up) const noexcept;

  int descriptor_;
};

class LogWriter {
 public:
  struct Options {
    std::string path;  // empty: standard error
    std::size_t max_pending_bytes = std::size_t{1} << 20;
    std::chrono::milliseconds grace{1000};  // the destructor waits for a full pipe this long
  };

  [[nodiscard]] static Result<std::unique_ptr<LogWriter>> start(const Options& options);
  LogWriter(const Options& options, LogFile file);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Writes the pending lines.
  ~LogWriter();

  // Thread-safe. `line` ends in a line feed.
  void write(std::string_view line) noexcept;

  // Reopens the path, for log rotation. On an error the old file stays in use.
  Result<void> reopen();

  // Returns when all earlier lines are written or dropped.
  void flush();

  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  void run();
  void write_out();
  [[nodiscard]] bool gives_up() const noexcept;

  const Options options_;
  LogFile file_;         // used only by thread_
  std::string writing_;  // used only by thread_

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::string pending_;
  std::optional<LogFile> reopened_;
  bool busy_ = false;
  bool stopping_ = false;

  std::atomic<std::chrono::steady_clock::rep> give_up_at_;
  std::atomic<std::uint64_t> dropped_{0};
  std::thread thread_;
};

}  // namespace weir::observe
