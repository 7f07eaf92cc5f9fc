// What GET /v1/stream sends: each message is written once, for all clients. Callable from any thread.
//
// A client keeps the number of the last message that it was sent, and asks ten times a second whether there are others:
// no thread has to know who listens. The last few messages are kept, for a loop that is late.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace weir::frontend {

class Feed {
 public:
  static constexpr std::size_t most_clients = 16;  // of all loops together
  static constexpr std::size_t most_kept = 4;

  // A place for one client, as long as it stays. False: all are taken.
  class Place {
   public:
    explicit Place(Feed& feed) noexcept : feed_(&feed) {
      taken_ = feed.clients_.fetch_add(1, std::memory_order_relaxed) < most_clients;
      if (!taken_) leave();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      if (taken_) leave();
    }
    [[nodiscard]] bool taken() const noexcept { return taken_; }

   private:
    void leave() noexcept { feed_->clients_.fetch_sub(1, std::memory_order_relaxed); }

    Feed* feed_;
    bool taken_ = false;
  };

  [[nodiscard]] std::size_t clients() const noexcept { return clients_.load(std::memory_order_relaxed); }

  void publish(std::string message) {
    const std::lock_guard guard(mutex_);
    const std::uint64_t number = newest_.load(std::memory_order_relaxed) + 1;
    messages_[number % most_kept] = std::move(message);
    newest_.store(number, std::memory_order_release);
  }

  // Of the last message; 0: there is none.
  [[nodiscard]] std::uint64_t newest() const noexcept { return newest_.load(std::memory_order_acquire); }

  // Those behind number `seen`, as far as they are kept. Gives the number of the last.
  [[nodiscard]] std::uint64_t append_after(std::uint64_t seen, std::string& out) const {
    if (newest() == seen) return seen;
    const std::lock_guard guard(mutex_);
    const std::uint64_t last = newest_.load(std::memory_order_relaxed);
    const std::uint64_t oldest = last < most_kept ? 1 : last - most_kept + 1;
    for (std::uint64_t number = std::max(seen + 1, oldest); number <= last; ++number) {
      out += messages_[number % most_kept];
    }
    return last;
  }

 private:
  std::atomic<std::size_t> clients_{0};
  std::atomic<std::uint64_t> newest_{0};
  mutable std::mutex mutex_;
  std::array<std::string, most_kept> messages_;
};

}  // namespace weir::frontend
