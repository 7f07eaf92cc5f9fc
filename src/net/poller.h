// The epoll instance of one loop. Internal to src/net. Used only on the loop's thread.
//
// Edge-triggered: readiness is reported once. A watcher that stops before EAGAIN must ask for another turn.
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

// An error or a hangup sets all three.
struct Readiness {
  bool input = false;
  bool output = false;
  bool until_eagain = false;  // a short read proves nothing: the peer has shut down, or there is urgent data
};

// May add and remove any watcher, including itself, while it is called.
class Watcher {
 public:
  Watcher() = default;
  virtual ~Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // `ready` is empty in a turn that the watcher asked for.
  virtual void on_ready(Readiness ready) = 0;

 private:
  friend class Poller;

  bool awaits_turn_ = false;
};

class Poller {
 public:
  enum class WaitMode : std::uint8_t { poll, block };

  Poller();  // throws std::system_error

  [[nodiscard]] bool add(int descriptor, Watcher& watcher, Interest interest) noexcept;
  void change(int descriptor, Watcher& watcher, Interest interest) noexcept;
  // The watcher is not called again, not even in the current round.
  void remove(int descriptor, Watcher& watcher) noexcept;

  // Calls the watcher in the next round, which then does not block.
  void give_turn(Watcher& watcher);

  // Runs one round: calls the watchers that are ready, then those that asked for a turn.
  void wait(WaitMode mode);

 private:
  void take_turns();

  static constexpr std::size_t max_batch_size = 256;

  Descriptor epoll_;
  std::array<epoll_event, max_batch_size> events_;
  std::span<epoll_event> left_;  // remaining events of this round
  std::vector<Watcher*> turns_;  // for the next round
  std::vector<Watcher*> taking_turns_;
};

// A watched descriptor. The destructor removes and closes it.
class Watched {
 public:
  Watched(Poller& poller, Watcher& watcher) noexcept : poller_(poller), watcher_(watcher) {}
  ~Watched() { close(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  [[nodiscard]] bool open() const noexcept { return descriptor_.open(); }
  [[nodiscard]] int number() const noexcept { return descriptor_.number(); }

  // Replaces the descriptor. Returns false, and closes it, if the system cannot watch it.
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

  // Calls the watcher in the next round, ready or not.
  void ask_for_turn() {
    if (open()) poller_.give_turn(watcher_);
  }

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
