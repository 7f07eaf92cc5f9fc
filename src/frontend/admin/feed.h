// What GET /v1/stream sends: each message is written once, for all clients, and every client is told of it at once.
// Callable from any thread.
//
// A client keeps the number of the last message that it was sent. The last few messages are kept, for a loop that is
// late.
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
  static constexpr std::size_t max_clients = 16;  // of all loops together
  static constexpr std::size_t max_kept = 4;

  // A place for one client, as long as it stays. False: all are taken.
  class Place {
   public:
    // `notify` is called after each message, by the thread that publishes it. It must not call the feed.
    Place(Feed& feed, std::function<void()> notify) : feed_(feed), notify_(std::move(notify)) {
      const std::lock_guard guard(feed.mutex_);
      taken_ = feed.places_.size() < max_clients;
      if (taken_) feed.places_.push_back(this);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      const std::lock_guard guard(feed_.mutex_);
      std::erase(feed_.places_, this);
    }
    [[nodiscard]] bool taken() const noexcept { return taken_; }

   private:
    friend class Feed;

    Feed& feed_;
    const std::function<void()> notify_;
    bool taken_ = false;
  };

  [[nodiscard]] std::size_t clients() const {
    const std::lock_guard guard(mutex_);
    return places_.size();
  }

  void publish(std::string message) {
    const std::lock_guard guard(mutex_);
    messages_[++newest_ % max_kept] = std::move(message);
    for (const Place* const place : places_) place->notify_();
  }

  // Of the last message; 0: there is none.
  [[nodiscard]] std::uint64_t newest() const {
    const std::lock_guard guard(mutex_);
    return newest_;
  }

  // Those behind number `seen`, as far as they are kept. Gives the number of the last.
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
  std::vector<Place*> places_;
  std::uint64_t newest_ = 0;
  std::array<std::string, max_kept> messages_;
};

}  // namespace weir::frontend
