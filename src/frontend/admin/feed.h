// The messages of GET /v1/stream. Each message is written once for all clients, which are notified immediately.
// Thread-safe.
//
// A client remembers the number of the last message that it received. The feed keeps the last few messages for slow
// loops.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace weir::frontend {

class Feed {
 public:
  static constexpr std::size_t max_clients = 16;  // maximum over all loops
  static constexpr std::size_t max_kept = 4;

  // The subscription of one client, active unless the feed already has max_clients.
  class Subscription {
   public:
    // `notify` is called after each message, on the publishing thread. It must not call the feed.
    Subscription(Feed& feed, std::function<void()> notify) : feed_(feed), notify_(std::move(notify)) {
      const std::lock_guard guard(feed.mutex_);
      active_ = feed.subscriptions_.size() < max_clients;
      if (active_) feed.subscriptions_.push_back(this);
    }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() {
      const std::lock_guard guard(feed_.mutex_);
      std::erase(feed_.subscriptions_, this);
    }
    [[nodiscard]] bool is_active() const noexcept { return active_; }

   private:
    friend class Feed;

    Feed& feed_;
    const std::function<void()> notify_;
    bool active_ = false;
  };

  [[nodiscard]] std::size_t clients() const {
    const std::lock_guard guard(mutex_);
    return subscriptions_.size();
  }

  void publish(std::string message) {
    const std::lock_guard guard(mutex_);
    messages_[++newest_ % max_kept] = std::move(message);
    for (const Subscription* const subscription : subscriptions_) subscription->notify_();
  }

  // The number of the last message; 0: none yet.
  [[nodiscard]] std::uint64_t newest() const {
    const std::lock_guard guard(mutex_);
    return newest_;
  }

  // Appends the messages after number `seen` that are still kept. Returns the number of the last message.
  [[nodiscard]] std::uint64_t append_after(std::uint64_t seen, std::string& out) const {
    const std::lock_guard guard(mutex_);
    const std::uint64_t oldest = newest_ < max_kept ? 1 : newest_ - max_kept + 1;
    for (std::uint64_t number = std::max(seen + 1, oldest); number <= newest_; ++number) {
      out += messages_[number % max_kept];
    }
    return newest_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Subscription*> subscriptions_;
  std::uint64_t newest_ = 0;
  std::array<std::string, max_kept> messages_;
};

}  // namespace weir::frontend
