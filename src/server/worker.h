// What serves on one loop: an evaluator on its store, and the frontends of all protocols. Changed on its loop only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "frontend/loop_context.h"
#include "net/timer.h"
#include "observe/recorder.h"
#include "server/protocols.h"
#include "server/shared_nodes.h"
#include "store/leased/leased_store.h"
#include "store/outage/outage_store.h"
#include "store/outage/start_gate.h"
#include "store/redis/heartbeat.h"
#include "store/redis/redis_store.h"
#include "store/store_counts.h"

namespace weir::server {

// For the workers of all loops.
struct WorkerOptions {
  frontend::Settings settings;
  std::vector<frontend::ReceiptKey> receipt_keys;         // none: no receipts are given
  std::vector<std::optional<FrontendOptions>> frontends;  // in the order of the protocols; none: it stays as it is
};

// What all workers share; it stays longer than they do.
struct WorkerContext {
  engine::Engine& engine;
  const Clock& clock;
  const frontend::Health& health;
  const observe::ConsumerNames& names;
  observe::DecisionLog* log;  // null: denials are not logged
  frontend::AdminBackend& backend;
  const store::redis::RedisOptions* redis;       // null: all states are this process's own
  SharedNodes* nodes;                            // null there, too; the first loop beats for all
  const std::atomic<std::uint32_t>* node_count;  // null there, too; changes at any time
  Duration startup_timeout;                      // requests wait for the store until then
  std::function<void()> on_connected;            // on each loop, once: no request waits any more
};

class Worker {
 public:
  // `counts` is null where all states are this process's own, and only there. Made while the loop does not run.
  Worker(const WorkerContext& context, const std::vector<std::unique_ptr<Protocol>>& protocols,
         const WorkerOptions& options, net::Loop& loop, store::StoreCounts* counts);
  // After the sessions, and while the loop does not run.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void change(const WorkerOptions& options);
  // By the number of the protocol.
  [[nodiscard]] frontend::Frontend& frontend(std::size_t protocol) noexcept { return *frontends_[protocol]; }

  // Slices of leased limits go back to the store; said to be done when they are, or there are none. The other nodes are
  // told that this one leaves.
  void leave_store();
  [[nodiscard]] bool slices_are_back() const noexcept { return !store_ || store_->idle(); }

  [[nodiscard]] const observe::Recorder& recorder() const noexcept { return recorder_; }

 private:
  void watch_slices();
  void await_store(const WorkerContext& context, net::Loop& loop);

  observe::Recorder recorder_;
  std::unique_ptr<store::redis::RedisStore> redis_;  // null: all states are this process's own
  std::unique_ptr<store::OutageStore> outage_;       // around it
  std::unique_ptr<store::LeasedStore> store_;        // around both
  std::unique_ptr<store::StartGate> gate_;           // around all of them
  net::Timer startup_timer_;
  net::Timer slices_timer_;
  std::unique_ptr<store::redis::Heartbeat> heartbeat_;  // of the first loop
  frontend::LoopContext context_;
  const std::vector<std::unique_ptr<Protocol>>& protocols_;
  const std::size_t loop_;  // its index
  std::vector<std::unique_ptr<frontend::Frontend>> frontends_;
};

}  // namespace weir::server
