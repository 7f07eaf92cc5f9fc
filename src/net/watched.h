// A descriptor that its loop watches for somebody; forgotten and closed with its owner. Internal to the room. On the
// loop's thread.
#pragma once

#include <utility>

#include "net/descriptor.h"
#include "net/poller.h"

namespace weir::net {

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
