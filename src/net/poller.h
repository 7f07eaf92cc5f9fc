// What one loop waits for: descriptors, by epoll. Internal to src/net. All on the loop's thread.
//
// Edge-triggered: what becomes ready is reported once, and costs nothing until then. A watcher that stops before the
// system has said that this is all asks for another turn.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "net/descriptor.h"

namespace weir::net {

enum class Interest : std::uint8_t { input, output, both };

// What has become ready. An error, or the end of the connection, counts as both.
struct Readiness {
  bool input = false;
  bool output = false;
  bool to_the_end = false;  // a short read may not be the last: the peer's end, or urgent bytes, stop one
};

// It may watch and remove any others while it is called, and itself.
class Watcher {
 public:
  Watcher() = default;
  virtual ~Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Nothing is set at a turn that was asked for.
  virtual void on_ready(Readiness ready) = 0;

 private:
  friend class Poller;

  bool awaits_turn_ = false;
};

class Poller {
 public:
  enum class Patience : std::uint8_t { none, endless };

  Poller();  // throws std::system_error

  [[nodiscard]] bool add(int descriptor, Watcher& watcher, Interest interest) noexcept;
  void change(int descriptor, Watcher& watcher, Interest interest) noexcept;
  // The watcher is not called again, not even in this round.
  void remove(int descriptor, Watcher& watcher) noexcept;

  // The watcher is called in the next round, which does not wait.
  void give_turn(Watcher& watcher);

  // One round: waits, and calls the watchers of all that is ready, and those whose turn it is.
  void wait(Patience timeout);

 private:
  void take_turns();

  static constexpr std::size_t max_batch_size = 256;

  Descriptor epoll_;
  std::array<epoll_event, max_batch_size> events_;
  std::span<epoll_event> left_;  // of this round
  std::vector<Watcher*> turns_;  // of the next
  std::vector<Watcher*> taking_turns_;
};

// A descriptor that a loop watches; removed and closed with its owner.
class Watched {
 public:
  Watched(Poller& poller, Watcher& watcher) noexcept : poller_(poller), watcher_(watcher) {}
  ~Watched() { close(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  [[nodiscard]] bool open() const noexcept { return descriptor_.open(); }
  [[nodiscard]] int number() const noexcept { return descriptor_.number(); }

  // In place of what it had. False if the system cannot watch it; then it is closed.
  [[nodiscard]] bool take(Descriptor descriptor, Interest interest) noexcept {
    close();
    if (!poller_.add(descriptor.number(), watcher_, interest)) return false;
    descriptor_ = std::move(descriptor);
    interest_ = interest;
    return true;
  }

  void want(Interest interest) noexcept {
    if (open() && std::exchange(interest_, interest) != interest) poller_.change(number(), watcher_, interest);
  }

  // The watcher is called in the next round, whether anything is ready or not.
  void ask_for_turn() {
    if (open()) poller_.give_turn(watcher_);
  }

  // Unwatched.
  [[nodiscard]] Descriptor release() noexcept {
    if (open()) poller_.remove(number(), watcher_);
    return std::move(descriptor_);
  }
  void close() noexcept { (void)release(); }

 private:
  Poller& poller_;
  Watcher& watcher_;
  Descriptor descriptor_;
  Interest interest_ = Interest::input;
};

}  // namespace weir::net
