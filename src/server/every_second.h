// Does something at every whole second of the wall clock, on a thread of its own, so that neither a snapshot nor a
// reload nor a request delays it.
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
  // Returns when it is not at work any more. May be called again, and without start().
  void stop() noexcept;

 private:
  static void run(const std::stop_token& stopping, const std::function<void()>& work);

  std::jthread thread_;
};

}  // namespace weir::server
