// Writes log lines on a thread of its own, so that no decision waits for a disk or a pipe.
//
// Lines wait in memory, up to a bound; what comes beyond it is dropped and counted, and so is what could not be
// written. write() copies a line under a lock that is never held while the file is written to.
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

// Where log lines go: a file that is appended to, or standard error. For one thread.
class LogFile {
 public:
  // Empty: standard error. A file is made if it is not there, for its owner and group to read.
  [[nodiscard]] static Result<LogFile> open(const std::string& path);

  // Takes over a descriptor; never closes standard error.
  explicit LogFile(int descriptor) noexcept : descriptor_(descriptor) {}
  LogFile(LogFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  LogFile& operator=(LogFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~LogFile();

  // Writes whole lines, a few at once, so that those of several processes do not mix. Waits while nobody reads, and
  // then calls `gives_up` ten times a second. How many bytes were written.
  [[nodiscard]] std::size_t write(std::string_view lines, const std::function<bool()>& gives_up) noexcept;

 private:
  // False: it cannot be written to.
  [[nodiscard]] bool wait(const std::function<bool()>& gives_up) const noexcept;

  int descriptor_;
};

class LogWriter {
 public:
  struct Options {
    std::string path;                                      // empty: standard error
    std::size_t max_pending_bytes = std::size_t{1} << 20;  // bytes
    std::chrono::milliseconds grace{1000};                 // at the end, for a reader that does not read
  };

  [[nodiscard]] static Result<std::unique_ptr<LogWriter>> start(const Options& options);
  LogWriter(const Options& options, LogFile file);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Writes what waits.
  ~LogWriter();

  // From any thread. `line` ends in a line feed.
  void write(std::string_view line) noexcept;

  // Opens the path anew, for a file that was moved away. On an error the old one stays in use.
  Result<void> reopen();

  // Returns when all that came before is written, or dropped.
  void flush();

  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  void run();
  void write_out();
  [[nodiscard]] bool gives_up() const noexcept;

  const Options options_;
  LogFile file_;         // of the thread
  std::string writing_;  // of the thread

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::string waiting_;
  std::optional<LogFile> reopened_;
  bool busy_ = false;
  bool stopping_ = false;

  std::atomic<std::chrono::steady_clock::rep> give_up_at_;
  std::atomic<std::uint64_t> dropped_{0};
  std::thread thread_;
};

}  // namespace weir::observe
