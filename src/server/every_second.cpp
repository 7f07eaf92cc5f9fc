#include "server/every_second.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace weir::server {

void EverySecond::start(std::function<void()> work) {
  thread_ = std::jthread([work = std::move(work)](const std::stop_token& stopping) { run(stopping, work); });
}

void EverySecond::stop() noexcept {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

// wait_for uses the steady clock. If it returns before the wall clock reaches the second, the loop waits again. If the
// wall clock is changed, only the current wait is affected.
void EverySecond::run(const std::stop_token& stopping, const std::function<void()>& work) {
  std::mutex mutex;
  std::condition_variable_any woken;
  while (!stopping.stop_requested()) {
    const auto now = std::chrono::system_clock::now();
    const auto next = std::chrono::floor<std::chrono::seconds>(now) + std::chrono::seconds(1);
    std::unique_lock lock(mutex);
    woken.wait_for(lock, stopping, next - now, [] { return false; });
    lock.unlock();
    if (!stopping.stop_requested() && std::chrono::system_clock::now() >= next) work();
  }
}

}  // namespace weir::server
