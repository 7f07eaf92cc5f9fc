// How long a client waits before it tries again: exponential, with full jitter, never shorter than
// what the server asked for in Retry-After.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "weir/result.h"
#include "weir/time.h"

namespace weir {

// Not thread-safe: one Backoff per call that is being retried.
class Backoff {
 public:
  // Gives a number between zero and `bound`, both included.
  using Randomness = std::function<std::uint64_t(std::uint64_t bound)>;

  struct Options {
    Duration base = std::chrono::milliseconds{100};
    Duration cap = std::chrono::seconds{60};
  };

  // Refuses a base that is not positive, a cap below the base, and empty randomness.
  static Result<Backoff> create(Randomness randomness, Options options);
  static Result<Backoff> create(Randomness randomness);

  // The next wait: uniform between zero and base x 2^attempt, at most cap.
  [[nodiscard]] Duration next();

  // The next wait after an answer with a Retry-After field (seconds or an HTTP date): what it says, and
  // next() on top, so that many who were told the same do not return together. So it is never earlier
  // than the server asked, and later by at most cap. A date that has passed asks for nothing; a field
  // that cannot be read counts as absent.
  [[nodiscard]] Duration next(std::string_view retry_after, Instant now);

  // After a success: the next wait starts at base again.
  void reset() noexcept;

 private:
  Backoff(Randomness randomness, Options options);

  Randomness randomness_;
  Options options_;
  Duration bound_;  // of the next wait: base, doubled with every attempt, at most cap
};

}  // namespace weir
