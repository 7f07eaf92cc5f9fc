// Connects to an endpoint: resolves its host and tries the addresses in turn. Internal to src/net. Used only on the
// loop's thread. Each address gets an equal share of the remaining time, so that an address that does not respond
// leaves enough time for the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/descriptor.h"
#include "net/loop.h"
#include "net/poller.h"
#include "net/timer.h"
#include "weir/result.h"

namespace weir::net {

class Dialer final : public std::enable_shared_from_this<Dialer>, private Watcher {
 public:
  using Done = std::function<void(Result<Descriptor>)>;

  Dialer(Loop& loop, Endpoint endpoint, SteadyTime deadline);

  void start(Done done);  // calls `done` once, after it returns, unless cancelled
  void cancel();

 private:
  void find_addresses();
  void look_up();
  void try_next();
  void connect(const Address& remote);
  void on_ready(Readiness ready) override;
  void set_timeout(SteadyTime end, std::string late);
  void fail_attempt(std::string what);
  void finish(Result<Descriptor> result);
  [[nodiscard]] bool stale(std::uint64_t step) const noexcept { return !done_ || step != step_; }

  Loop& loop_;
  const Endpoint endpoint_;
  const SteadyTime deadline_;
  Timer timer_;
  Watched socket_;
  Done done_;  // empty once finished or cancelled
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::uint64_t step_ = 0;  // identifies the current attempt; callbacks of earlier ones are ignored
  std::string problem_;     // the error of the last attempt
};

}  // namespace weir::net
