// Runs a function at every whole second of the wall clock, on its own thread: snapshots, reloads and requests do not
// delay it.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

namespace weir::server {

class EverySecond {
 public:
  EverySecond() = default;
  EverySecond(const EverySecond&) = delete;
  EverySecond& operator=(const EverySecond&) = delete;
  ~EverySecond() { stop(); }

  void start(std::function<void()> work);
  // Waits for the function to return. May be called repeatedly, and without start().
  void stop() noexcept;

 private:
  static void run(const std::stop_token& stopping, const std::function<void()>& work);

  std::jthread thread_;
};

}  // namespace weir::server
