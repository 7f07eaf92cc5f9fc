// SPDX-License-Identifier: Apache-2.0
// Retry delays for a client: exponential backoff with full jitter, never shorter than the server's Retry-After.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "weir/result.h"
#include "weir/time.h"

namespace weir {

// Not thread-safe. Use one Backoff per retried call.
class Backoff {
 public:
  // Returns a uniform number from 0 to `bound`, inclusive.
  using Randomness = std::function<std::uint64_t(std::uint64_t bound)>;

  struct Options {
    Duration base = std::chrono::milliseconds{100};
    Duration cap = std::chrono::seconds{60};
  };

  // Rejects a base that is not positive, a cap below the base, and an empty function.
  static Result<Backoff> create(Randomness randomness, Options options);
  static Result<Backoff> create(Randomness randomness);

  // Returns the next wait: uniform between zero and base x 2^attempt, at most cap.
  [[nodiscard]] Duration next();

  // Returns the next wait after a response with a Retry-After field (seconds or an HTTP date): its value plus next(),
  // so that clients that received the same value do not return together. The wait is never shorter than the server
  // requested, and at most `cap` longer. A date in the past counts as zero; an invalid field counts as absent.
  [[nodiscard]] Duration next(std::string_view retry_after, Instant now);

  // Call after a success: the next wait starts at base again.
  void reset() noexcept;

 private:
  Backoff(Randomness randomness, Options options);

  Randomness randomness_;
  Options options_;
  Duration bound_;  // upper bound of the next wait: base, doubled with every attempt, at most cap
};

}  // namespace weir
