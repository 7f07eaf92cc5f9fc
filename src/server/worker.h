// The part of the server on one loop: an evaluator with its store, and the frontends of all protocols. Modified only on
// its loop's thread.
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

// Options of every worker.
struct WorkerOptions {
  frontend::Settings settings;
  std::vector<frontend::ReceiptKey> receipt_keys;         // empty: receipts are disabled
  std::vector<std::optional<FrontendOptions>> frontends;  // in the order of the protocols; none: unchanged
};

// Shared by all workers. Must outlive them.
struct WorkerContext {
  engine::Engine& engine;
  const Clock& clock;
  const frontend::Health& health;
  const observe::ConsumerNames& names;
  observe::DecisionLog* log;  // null: denials are not logged
  frontend::AdminBackend& backend;
  const store::redis::RedisOptions* redis;       // null: the store is local
  SharedNodes* nodes;                            // null if local; the first loop sends heartbeats
  const std::atomic<std::uint32_t>* node_count;  // null if local; may change at any time
  Duration startup_timeout;                      // how long requests wait for the store
  std::function<void()> on_connected;            // called once on each loop, when requests no longer wait
};

class Worker {
 public:
  // `counts` is null if and only if the store is local. The loop must not run yet.
  Worker(const WorkerContext& context, const std::vector<std::unique_ptr<Protocol>>& protocols,
         const WorkerOptions& options, net::Loop& loop, store::StoreCounts* counts);
  // Must be destroyed after the sessions, while the loop does not run.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void change(const WorkerOptions& options);
  // `protocol` is the index of the protocol.
  [[nodiscard]] frontend::Frontend& frontend(std::size_t protocol) noexcept { return *frontends_[protocol]; }

  // Returns slices of leased limits to the store and leaves the list of nodes. slices_are_returned() reports
  // completion.
  void leave_store();
  [[nodiscard]] bool slices_are_returned() const noexcept { return !store_ || store_->idle(); }

  [[nodiscard]] const observe::Recorder& recorder() const noexcept { return recorder_; }

 private:
  void watch_slices();
  void await_store(const WorkerContext& context, net::Loop& loop);

  observe::Recorder recorder_;
  std::unique_ptr<store::redis::RedisStore> redis_;  // null: the store is local
  std::unique_ptr<store::OutageStore> outage_;       // wraps redis_
  std::unique_ptr<store::LeasedStore> store_;        // wraps outage_
  std::unique_ptr<store::StartGate> gate_;           // wraps store_
  net::Timer startup_timer_;
  net::Timer slices_timer_;
  std::unique_ptr<store::redis::Heartbeat> heartbeat_;  // on the first loop only
  frontend::LoopContext context_;
  const std::vector<std::unique_ptr<Protocol>>& protocols_;
  const std::size_t loop_;  // the index of the loop
  std::vector<std::unique_ptr<frontend::Frontend>> frontends_;
};

}  // namespace weir::server
