// What other threads want a loop to do, and what it puts off itself. Internal to the room.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "net/poller.h"
#include "net/watched.h"

namespace weir::net {

class Inbox final : private Watcher {
 public:
  explicit Inbox(Poller& poller);  // throws std::system_error

  // From any thread.
  void put(std::function<void()> work);
  void stop() noexcept;
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool in_loop_thread() const noexcept { return loop_thread_.load() == std::this_thread::get_id(); }

  // In the loop's thread; enter() makes it so.
  void enter() noexcept { loop_thread_ = std::this_thread::get_id(); }
  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  // All that is here now, in its order: what comes meanwhile waits for the next round.
  void run_all();

 private:
  void on_ready(Readiness ready) override;
  void ring() noexcept;

  Watched bell_;
  std::atomic<std::thread::id> loop_thread_;
  std::atomic<bool> waiting_ = false;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> works_;    // guarded by it
  std::vector<std::function<void()>> running_;  // the loop's
};

}  // namespace weir::net
