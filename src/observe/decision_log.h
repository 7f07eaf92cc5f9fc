// Denials, one JSON line each (log_line.h): some of them, and only so many in a second. Callable from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "observe/log_line.h"
#include "observe/log_writer.h"
#include "weir/time.h"

namespace weir::observe {

// `keep` out of every `of`, on average; all if they are equal.
struct Sampling {
  std::uint32_t keep = 1;
  std::uint32_t of = 1;
};

// Takes some of many, evenly and without a rhythm that traffic could fall in with. For one thread.
class Sampler {
 public:
  // The same seed takes the same.
  Sampler(Sampling sampling, std::uint64_t seed) noexcept : sampling_(sampling), state_(seed) {}

  [[nodiscard]] bool takes() noexcept {
    if (sampling_.keep >= sampling_.of) return true;
    return scatter() % sampling_.of < sampling_.keep;
  }

 private:
  // A counter, and a bijection of it that leaves nothing of its order.
  [[nodiscard]] std::uint64_t scatter() noexcept {
    std::uint64_t mixed = state_ += 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    return mixed ^ mixed >> 31;
  }

  Sampling sampling_;
  std::uint64_t state_;
};

// A bound on the lines of each second, and a count of what it left out. Callable from any thread.
//
// A clock that steps back by more than a second begins a second anew; else nothing would be written until the clock is
// where it was.
class LineLimit {
 public:
  explicit LineLimit(std::uint32_t lines_per_second) noexcept : most_(lines_per_second) {}

  [[nodiscard]] bool pass(Instant now) noexcept;

  // How many were left out in a second that is over, each told once.
  [[nodiscard]] std::uint64_t take_suppressed(Instant now) noexcept;

 private:
  const std::uint32_t most_;
  std::atomic<std::uint64_t> passed_{0};  // the second in the upper half, the lines that passed in the lower
  std::atomic<std::uint64_t> suppressed_{0};
};

class DecisionLog {
 public:
  struct Options {
    Sampling sampling;
    std::uint32_t lines_per_second = 100;
  };

  // `writer` stays longer.
  DecisionLog(LogWriter& writer, const Options& options) noexcept
      : writer_(writer), sampling_(options.sampling), limit_(options.lines_per_second) {}

  // Each thread draws for itself.
  [[nodiscard]] Sampling sampling() const noexcept { return sampling_; }

  // Whether a line may be written now. One that may not is counted, and told of when the second is over.
  [[nodiscard]] bool has_room(Instant now);

  // `line` is scratch.
  void write(const Denial& denial, std::string& line);

  // Says what was left out in a second that is over. To be called about once a second, so that it is said even if
  // no denial follows.
  void tick(Instant now);

 private:
  LogWriter& writer_;
  const Sampling sampling_;
  LineLimit limit_;
};

}  // namespace weir::observe
