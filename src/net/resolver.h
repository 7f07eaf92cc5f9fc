// Looks names up, on a thread of its own: the system's resolver waits. One for each loop. Internal to src/net. On
// the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/address.h"

namespace weir::net {

class Loop;

class Resolver {
 public:
  struct Found {
    std::vector<Address> addresses;
    std::string problem;  // why there are none
  };
  using Done = std::function<void(const Found&)>;

  // Of an IP address, at once.
  [[nodiscard]] static Found read_ip(const std::string& host, std::uint16_t port);

  explicit Resolver(Loop& loop) noexcept;
  // Does not wait: a look-up that is under way ends on its own, and nobody is told of it.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // One after the other; `done` comes later. Look-ups whose `owner` is gone by then are left out.
  void look_up(std::string host, std::uint16_t port, std::weak_ptr<const void> owner, Done done);

 private:
  class Worker;

  Loop& loop_;
  std::shared_ptr<Worker> worker_;  // null: nothing was looked up yet
};

}  // namespace weir::net
