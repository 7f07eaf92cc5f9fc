#include "observe/decision_log.h"

#include <chrono>

namespace weir::observe {
namespace {

std::uint64_t second_of(Instant now) noexcept {
  return static_cast<std::uint32_t>(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
}

// Each thread reads the clock itself, so a thread may still be in the previous second.
bool is_another(std::uint64_t second, std::uint64_t passed) noexcept {
  const std::uint64_t current = passed >> 32;
  return second > current || second + 1 < current;
}

}  // namespace

bool LineLimit::pass(Instant now) noexcept {
  const std::uint64_t second = second_of(now);
  std::uint64_t seen = passed_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t current = is_another(second, seen) ? second << 32 : seen;
    const bool passes = static_cast<std::uint32_t>(current) < max_lines_;
    const std::uint64_t next = passes ? current + 1 : current;
    if (next != seen && !passed_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) continue;
    if (!passes) suppressed_.fetch_add(1, std::memory_order_relaxed);
    return passes;
  }
}

std::uint64_t LineLimit::take_suppressed(Instant now) noexcept {
  if (suppressed_.load(std::memory_order_relaxed) == 0) return 0;
  if (!is_another(second_of(now), passed_.load(std::memory_order_relaxed))) return 0;
  return suppressed_.exchange(0, std::memory_order_relaxed);
}

bool DecisionLog::has_room(Instant now) {
  tick(now);
  return limit_.pass(now);
}

void DecisionLog::write(const Denial& denial, std::string& line) {
  line.clear();
  append_denial(line, denial);
  writer_.write(line);
}

void DecisionLog::tick(Instant now) {
  const std::uint64_t suppressed = limit_.take_suppressed(now);
  if (suppressed == 0) return;
  std::string line;
  append_suppressed(line, now, suppressed);
  writer_.write(line);
}

}  // namespace weir::observe
