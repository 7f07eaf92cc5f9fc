// Denials, one JSON line each (log_line.h): some of them, and only so many in a second. Callable from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "observe/line_gate.h"
#include "observe/log_line.h"
#include "observe/log_writer.h"
#include "observe/sampler.h"
#include "weir/time.h"

namespace weir::observe {

class DecisionLog {
 public:
  struct Options {
    Sampling sampling;
    std::uint32_t lines_per_second = 100;
  };

  // `writer` stays longer.
  DecisionLog(LogWriter& writer, const Options& options) noexcept
      : writer_(writer), sampling_(options.sampling), gate_(options.lines_per_second) {}

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
  LineGate gate_;
};

}  // namespace weir::observe
