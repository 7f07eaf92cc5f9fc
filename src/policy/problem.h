// What is wrong with a file, in all its places: a reviewer wants every mistake at once, not the first.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "policy/mark.h"

namespace weir::policy {

enum class Severity { error, warning };

struct Problem {
  Severity severity = Severity::error;
  std::string file;
  Mark at;
  std::string message;

  // FILE:LINE:COLUMN: message
  [[nodiscard]] std::string text() const;
};

// The problems of one file, bounded: after `most` of a severity, one line says that there are more.
class Problems {
 public:
  static constexpr std::size_t most = 100;

  explicit Problems(std::string file) : file_(std::move(file)) {}

  void error(Mark at, std::string message) { add(Severity::error, at, std::move(message)); }
  void warning(Mark at, std::string message) { add(Severity::warning, at, std::move(message)); }

  [[nodiscard]] bool any_error() const noexcept { return errors_ > 0; }
  [[nodiscard]] std::size_t errors() const noexcept { return errors_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  // In the order of their places, each once.
  [[nodiscard]] std::vector<Problem> sorted() const;

 private:
  void add(Severity severity, Mark at, std::string message);

  std::string file_;
  std::vector<Problem> list_;
  std::size_t errors_ = 0;  // also those beyond `most`, which are not in the list
  std::size_t warnings_ = 0;
};

}  // namespace weir::policy
