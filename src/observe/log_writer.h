// Writes log lines on a thread of its own, so that nobody who decides waits for a disk or a pipe.
//
// Lines wait in memory, up to a bound; what comes beyond it is dropped and counted, and so is what could not be
// written. write() copies a line under a lock that is never held while the file is written to.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "observe/log_file.h"
#include "weir/result.h"

namespace weir::observe {

class LogWriter {
 public:
  struct Options {
    std::string path;                                 // empty: standard error
    std::size_t most_waiting = std::size_t{1} << 20;  // bytes
    std::chrono::milliseconds grace{1000};            // at the end, for a reader that does not read
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
