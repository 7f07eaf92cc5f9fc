// How far a long piece of work is, on a terminal; elsewhere nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace weir::app {

// On the standard error. Gone when the work is done.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  struct Step {
    std::size_t number = 1;  // from one
    std::size_t of = 1;
  };

  // May be called as often as one likes: it is drawn ten times a second. `done` and `total` are bytes of the step;
  // without a total, it only counts.
  void show(Step step, std::uint64_t done, std::optional<std::uint64_t> total);

 private:
  std::string label_;
  bool is_shown_;  // there is somebody to see it
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace weir::app
