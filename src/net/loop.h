// Event loops, each with its own thread. Loops share no state.
//
//   auto loops = Loops::make(2);
//   auto listener = Listener::open(**loops, ...);
//   (*loops)->start();
//   ...
//   listener.reset(); (*loops)->stop();
//
// Loops and their listeners must be started, stopped and destroyed by one owner, never from a loop's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "weir/result.h"
#include "weir/time.h"

namespace weir::net {

class Poller;
class Resolver;
class TimerQueue;

using SteadyTime = std::chrono::steady_clock::time_point;

class Loop {
 public:
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  // Runs `work` on the loop's thread, later. Thread-safe.
  void post(std::function<void()> work);

  // Runs `work` on the loop's thread and returns when it is done. Calls it directly if the loop is not running or this
  // is its thread.
  void run(const std::function<void()>& work);

  // The functions below must be called on the loop's thread.

  // Calls `work` at every tick until it returns false.
  void every_tick(std::function<bool(SteadyTime)> work);

  // The time of the last tick.
  [[nodiscard]] SteadyTime now() const noexcept { return now_; }

  // Internal to src/net.
  [[nodiscard]] Poller& poller() noexcept;
  [[nodiscard]] TimerQueue& timers() noexcept;
  [[nodiscard]] Resolver& resolver() noexcept;

 private:
  friend class Loops;
  struct State;

  Loop(std::size_t index, Duration tick);
  void start();
  void stop() noexcept;

  std::size_t index_;
  SteadyTime now_ = SteadyTime::clock::now();
  std::unique_ptr<State> state_;
};

class Loops {
 public:
  static constexpr Duration default_tick = std::chrono::milliseconds(100);

  [[nodiscard]] static Result<std::unique_ptr<Loops>> make(std::size_t count, Duration tick = default_tick);
  ~Loops();
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  // The threads block all signals.
  [[nodiscard]] Result<void> start();
  // Returns when all threads have ended. Drops posted work that has not run. Loops cannot be started again.
  void stop() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return loops_.size(); }
  [[nodiscard]] Loop& operator[](std::size_t index) noexcept { return *loops_[index]; }

 private:
  Loops() = default;

  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace weir::net
