// The file that keeps the records of a server without a shared store: one line per change, synced before the change is
// acknowledged. Not thread-safe.
//
// A last line without a line feed was never acknowledged: it is removed when the file is opened. Any other invalid line
// is an error, since ignoring it could drop a block.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include "overrides/record.h"
#include "weir/result.h"

namespace weir::overrides {

class ChangeLog {
 public:
  // Creates the file (0600) if it is missing. Calls `on_change` for each change, in order.
  static Result<ChangeLog> open(std::filesystem::path path, const std::function<void(const Change&)>& on_change);

  ChangeLog(ChangeLog&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::exchange(other.file_, -1)),
        size_(other.size_),
        lines_(other.lines_) {}
  ChangeLog& operator=(ChangeLog&&) = delete;
  ~ChangeLog();

  // On an error the file is as before.
  Result<void> append(std::span<const Change> changes);
  // Replaces the whole file.
  Result<void> rewrite(std::span<const Change> changes);

  [[nodiscard]] std::size_t lines() const noexcept { return lines_; }

 private:
  ChangeLog(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}

  std::filesystem::path path_;
  int file_;
  std::size_t size_ = 0;  // bytes of acknowledged lines
  std::size_t lines_ = 0;
};

}  // namespace weir::overrides
