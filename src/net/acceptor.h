// The part of a listener that runs on one loop: it accepts connections and owns them. Internal to src/net. Used only on
// the loop's thread, except ListenerState, which all loops of a listener share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/address.h"
#include "net/descriptor.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/poller.h"

namespace weir::net {

class Connection;

struct ListenerState {
  ListenerState(ListenOptions chosen, MakeSession make) : options(std::move(chosen)), make_session(std::move(make)) {}

  const ListenOptions options;
  const MakeSession make_session;

  // Documented at ListenerCounts.
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> accept_failures = 0;
  std::atomic<std::uint64_t> handshake_failures = 0;
  std::atomic<std::uint64_t> timed_out = 0;
  std::atomic<std::uint64_t> overlong = 0;
  std::atomic<std::uint64_t> faults = 0;
  std::atomic<std::size_t> open = 0;

  std::mutex mutex;
  std::condition_variable empty;  // notified when `open` reaches 0
};

// Counts one open connection of a listener until it ends.
class OpenCount {
 public:
  explicit OpenCount(std::shared_ptr<ListenerState> listener) noexcept
      : listener_(std::move(listener)), ordinal_(listener_->open.fetch_add(1) + 1) {}
  OpenCount(OpenCount&& other) noexcept : listener_(std::move(other.listener_)), ordinal_(other.ordinal_) {}
  OpenCount& operator=(OpenCount&&) = delete;
  ~OpenCount() { end(); }

  [[nodiscard]] bool within_limit() const noexcept { return ordinal_ <= listener_->options.max_connections; }

  void end() noexcept {
    const auto listener = std::exchange(listener_, nullptr);
    if (!listener || listener->open.fetch_sub(1) != 1) return;
    const std::lock_guard lock(listener->mutex);
    listener->empty.notify_all();
  }

 private:
  std::shared_ptr<ListenerState> listener_;
  std::size_t ordinal_;
};

// An accepted socket that is not a connection yet.
struct AcceptedSocket {
  Descriptor socket;
  Address from;
  OpenCount count;
};

class Acceptor final : public std::enable_shared_from_this<Acceptor>, private Watcher {
 public:
  Acceptor(Loop& loop, std::shared_ptr<ListenerState> listener);

  // Distributes accepted sockets over `targets` in turn. Returns false if the loop cannot watch the socket.
  [[nodiscard]] bool accept_on(Descriptor listening, std::vector<std::shared_ptr<Acceptor>> targets);
  // Accepts the pending connections first.
  void stop_accepting();
  void drain();
  void close_all();
  void tick(SteadyTime now);

  void forget(Connection& connection);  // called after it has closed

  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  [[nodiscard]] ListenerState& listener() noexcept { return *listener_; }

 private:
  void on_ready(Readiness ready) override;
  enum class Waiting : std::uint8_t { none, some, unknown };  // unknown: accept failed, retry at the next tick
  [[nodiscard]] Waiting accept_waiting();
  void pass_on(AcceptedSocket accepted);
  void open_connection(AcceptedSocket accepted);

  Loop& loop_;
  std::shared_ptr<ListenerState> listener_;
  Watched listening_;
  std::vector<std::shared_ptr<Acceptor>> targets_;
  std::size_t next_target_ = 0;
  bool accept_paused_ = false;  // accept failed: paused until the next tick
  bool draining_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;  // each knows its index
};

}  // namespace weir::net
