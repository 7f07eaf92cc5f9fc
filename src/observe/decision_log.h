// Logs denials as JSON lines (log_line.h), sampled and limited per second. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "observe/log_line.h"
#include "observe/log_writer.h"
#include "weir/time.h"

namespace weir::observe {

// The share of lines to log: on average `keep` of every `of`; all lines if both are equal.
struct Sampling {
  std::uint32_t keep = 1;
  std::uint32_t of = 1;
};

// Samples evenly, but not periodically: traffic cannot be in step with it. Not thread-safe.
class Sampler {
 public:
  // Deterministic for a seed.
  Sampler(Sampling sampling, std::uint64_t seed) noexcept : sampling_(sampling), state_(seed) {}

  [[nodiscard]] bool takes() noexcept {
    if (sampling_.keep >= sampling_.of) return true;
    return scatter() % sampling_.of < sampling_.keep;
  }

 private:
  // SplitMix64.
  [[nodiscard]] std::uint64_t scatter() noexcept {
    std::uint64_t mixed = state_ += 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    return mixed ^ mixed >> 31;
  }

  Sampling sampling_;
  std::uint64_t state_;
};

// Limits the lines per second, and counts the suppressed ones. Thread-safe.
//
// If the clock steps back by more than a second, a new second starts. Otherwise nothing would be written until the
// clock has caught up.
class LineLimit {
 public:
  explicit LineLimit(std::uint32_t lines_per_second) noexcept : max_lines_(lines_per_second) {}

  [[nodiscard]] bool pass(Instant now) noexcept;

  // Returns the number of lines suppressed since the last call, once their second has passed.
  [[nodiscard]] std::uint64_t take_suppressed(Instant now) noexcept;

 private:
  const std::uint32_t max_lines_;
  std::atomic<std::uint64_t> passed_{0};  // the second in the upper 32 bits, the lines that passed in the lower
  std::atomic<std::uint64_t> suppressed_{0};
};

class DecisionLog {
 public:
  struct Options {
    Sampling sampling;
    std::uint32_t lines_per_second = 100;
  };

  // `writer` must outlive this object.
  DecisionLog(LogWriter& writer, const Options& options) noexcept
      : writer_(writer), sampling_(options.sampling), limit_(options.lines_per_second) {}

  // Each thread has its own Sampler.
  [[nodiscard]] Sampling sampling() const noexcept { return sampling_; }

  // True if a line may be written now. Otherwise the line is counted, and the count is logged after the current second.
  [[nodiscard]] bool has_room(Instant now);

  // `line` is scratch.
  void write(const Denial& denial, std::string& line);

  // Logs the number of suppressed lines of a past second. Call it about once per second, so that the number is logged
  // even if no denial follows.
  void tick(Instant now);

 private:
  LogWriter& writer_;
  const Sampling sampling_;
  LineLimit limit_;
};

}  // namespace weir::observe
