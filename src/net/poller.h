// What one loop waits for: descriptors, by epoll. Internal to the room. All on the loop's thread.
//
// Edge-triggered: what becomes ready is told once, and costs nothing until then. Whoever leaves off before the system
// has said that this is all asks for another turn.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

// Whoever has a descriptor watched. He may watch and forget any others meanwhile, and himself.
class Watcher {
 public:
  Watcher() = default;
  virtual ~Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Nothing is new at a turn that was asked for.
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
  // He hears nothing more of it, not even in this round.
  void remove(int descriptor, Watcher& watcher) noexcept;

  // He is called in the next round, which does not wait.
  void give_turn(Watcher& watcher);

  // One round: waits, and calls the watchers of all that is ready, and those whose turn it is.
  void wait(Patience patience);

 private:
  void take_turns();

  static constexpr std::size_t most_at_once = 256;

  Descriptor epoll_;
  std::array<epoll_event, most_at_once> events_;
  std::span<epoll_event> left_;  // of this round
  std::vector<Watcher*> turns_;  // of the next
  std::vector<Watcher*> taking_turns_;
};

}  // namespace weir::net
