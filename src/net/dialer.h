// Connects to an endpoint: looks its host up, and tries the addresses in turn. Internal to src/net. All on the loop's
// thread.
//
// Each address gets an equal part of the time that is left: one that does not answer leaves enough for the next.
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

  void start(Done done);  // which is called once, later; not after cancel()
  void cancel();

 private:
  void find_addresses();
  void look_up();
  void try_next();
  void connect(const Address& remote);
  void on_ready(Readiness ready) override;
  void give_until(SteadyTime end, std::string late);
  void take_failure(std::string what);
  void finish(Result<Descriptor> result);
  [[nodiscard]] bool stale(std::uint64_t step) const noexcept { return !done_ || step != step_; }

  Loop& loop_;
  const Endpoint endpoint_;
  const SteadyTime deadline_;
  Timer timer_;
  Watched socket_;
  Done done_;  // empty: over
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::uint64_t step_ = 0;  // what was begun in an earlier one does not count any more
  std::string problem_;     // of the last address
};

}  // namespace weir::net
