#include "app/progress_bar.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr std::chrono::milliseconds period{100};
constexpr std::size_t width = 40;

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  return std::string(full, '#') + std::string(width - full, '.');
}

}  // namespace

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), is_shown_(is_terminal(stderr)), next_(std::chrono::steady_clock::now() + period) {}

ProgressBar::~ProgressBar() {
  if (is_drawn_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(Step step, std::uint64_t done, std::optional<std::uint64_t> total) {
  if (!is_shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + period;
  is_drawn_ = true;
  const std::string label = step.of > 1 ? fmt::format("{} {}/{}", label_, step.number, step.of) : label_;
  const double megabytes = static_cast<double>(done) / 1e6;
  if (total && *total > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total));
    fmt::print(stderr, "\r{} [{}] {:3.0f} %  {:.0f} MB\x1b[K", label, bar(share), 100 * share, megabytes);
  } else {
    fmt::print(stderr, "\r{} {:.0f} MB\x1b[K", label, megabytes);
  }
}

}  // namespace weir::app
