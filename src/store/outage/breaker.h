// A circuit breaker for one server: while it is open, nothing is sent, so no request waits.
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
    std::size_t min_answers = 20;                   // needed to open by slowness
    Duration window = std::chrono::seconds(1);      // in which answers count
    Duration slow = std::chrono::milliseconds(10);  // an answer is slow if it takes longer
    Duration min_wait = std::chrono::milliseconds(200);
    Duration max_wait = std::chrono::seconds(5);
  };

  // Starts open, with a probe due at `now`.
  Breaker(const Options& options, std::uint64_t seed, SteadyTime now) noexcept;

  [[nodiscard]] BreakerState state() const noexcept { return state_; }

  // When open: the earliest time of a probe.
  [[nodiscard]] SteadyTime probe_at() const noexcept { return probe_at_; }

  // If open and a probe is due, becomes half-open and returns true: the caller sends the probe.
  [[nodiscard]] bool begin_probe(SteadyTime now) noexcept;

  // Records an answer; when half-open, the probe's.
  void answered(Duration took, SteadyTime now);
  // A sign of life that does not prove that groups are answered: closes, but keeps the longer wait.
  void alive() noexcept;
  void failed(SteadyTime now);
  // Records `answers` overdue answers: each counts as slow, and together as one error.
  void timed_out(std::size_t answers, SteadyTime now);
  // The connection was lost: opens in any state.
  void lost(SteadyTime now);

 private:
  struct Answer {
    SteadyTime at;
    bool slow;
  };

  void record(bool slow, SteadyTime now);
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
  std::deque<Answer> answers_;  // within `window`
  std::size_t slow_ = 0;        // number of slow answers in `answers_`
};

}  // namespace weir::store
