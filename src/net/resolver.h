// Resolves host names on its own thread, because the system's resolver blocks. There is one per loop. Internal to
// src/net. Used only on the loop's thread.
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
    std::string problem;  // set if there are no addresses
  };
  using Done = std::function<void(const Found&)>;

  // Parses an IP address without a lookup.
  [[nodiscard]] static Found read_ip(const std::string& host, std::uint16_t port);

  explicit Resolver(Loop& loop) noexcept;
  // Does not block: the result of a running lookup is dropped.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Queues a lookup; `done` is called later. A queued lookup is skipped if its `owner` has been destroyed.
  void look_up(std::string host, std::uint16_t port, std::weak_ptr<const void> owner, Done done);

 private:
  class Worker;

  Loop& loop_;
  std::shared_ptr<Worker> worker_;  // created by the first lookup
};

}  // namespace weir::net
