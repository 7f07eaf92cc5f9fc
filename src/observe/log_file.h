// Where log lines go: a file that is appended to, or standard error. For one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "weir/result.h"

namespace weir::observe {

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
  // then asks ten times a second whether to go on. How many bytes were written.
  [[nodiscard]] std::size_t write(std::string_view lines, const std::function<bool()>& gives_up) noexcept;

 private:
  // False: it cannot be written to.
  [[nodiscard]] bool wait(const std::function<bool()>& gives_up) const noexcept;

  int descriptor_;
};

}  // namespace weir::observe
