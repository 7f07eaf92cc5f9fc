// The circuit breaker before one server: while it is open nobody asks, so nobody waits.
//
//   closed --5 errors in a row, or half of the answers slow or missing, or the connection lost--> open
//   open --after a while--> half-open: one probe
//   half-open --a good answer--> closed
//   half-open --anything else--> open, for twice as long
//
// Pure: the time and the randomness are arguments. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "weir/time.h"

namespace weir::store {

enum class BreakerState : std::uint8_t { closed, half_open, open };
inline constexpr std::size_t breaker_states = 3;

class Breaker {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  struct Options {
    unsigned errors_in_a_row = 5;
    std::size_t answers_to_evaluate = 20;  // by their slowness, within `evaluated`
    Duration evaluated = std::chrono::seconds(1);
    Duration slow = std::chrono::milliseconds(10);  // longer than this
    Duration min_wait = std::chrono::milliseconds(200);
    Duration max_wait = std::chrono::seconds(5);
  };

  // Open, and a probe is due at `now`: nothing is known yet.
  Breaker(const Options& options, std::uint64_t seed, SteadyTime now) noexcept;

  [[nodiscard]] BreakerState state() const noexcept { return state_; }

  // When it is open: from when on a probe may begin.
  [[nodiscard]] SteadyTime probe_at() const noexcept { return probe_at_; }

  // Open, and the time has come: half-open, and the caller is the probe. Otherwise false.
  [[nodiscard]] bool begin_probe(SteadyTime now) noexcept;

  // An answer to an ask. In half-open: of the probe.
  void answered(Duration took, SteadyTime now);
  // An answer that proves life, but not that asks are answered: the next wait is as long as if it had failed.
  void alive() noexcept;
  void failed(SteadyTime now);
  // So many answers are due and have not come: each is a slow one, and all together are an error.
  void timed_out(std::size_t answers, SteadyTime now);
  // The connection is gone: open, whatever it was.
  void lost(SteadyTime now);

 private:
  struct Answer {
    SteadyTime at;
    bool slow;
  };

  void evaluate(bool slow, SteadyTime now);
  void open(SteadyTime now);
  void close() noexcept;
  [[nodiscard]] bool too_slow(SteadyTime now);
  [[nodiscard]] Duration jittered(Duration wait) noexcept;

  Options options_;
  std::uint64_t random_;
  BreakerState state_ = BreakerState::open;
  SteadyTime probe_at_;
  Duration wait_;
  unsigned errors_ = 0;
  std::deque<Answer> answers_;  // of the last `evaluated`
  std::size_t slow_ = 0;        // of them
};

}  // namespace weir::store
