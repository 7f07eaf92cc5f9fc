// Limits shared through Redis: a single server, a master watched by Sentinels, or a cluster. Without Sentinels, the
// servers report whether they are a cluster.
//
// Created, used and destroyed on the loop's thread (or while the loop does not run); never destroyed from within
// Callback::answered. The destructor answers all groups in flight, with `unavailable` or `lost`, and none afterwards.
// The loop must outlive the store.
//
// It connects and reconnects by itself. Until it is connected, and while a server is unavailable, submit() fails groups
// at once. Server queues own the connections (server_queue.h); the routes of a cluster map keys to queues (cluster.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/object_pool.h"
#include "net/address.h"
#include "net/loop.h"
#include "net/timer.h"
#include "store/redis/cluster.h"
#include "store/redis/redis_options.h"
#include "store/redis/script_call.h"
#include "store/redis/sentinel_watch.h"
#include "store/redis/server_queue.h"
#include "store/redis/split_group.h"
#include "store/store.h"
#include "store/store_counts.h"
#include "weir/result.h"

namespace weir::store::redis {

// Maps slots to the queue of their master.
class ClusterRoutes {
 public:
  ClusterRoutes() : queues_(cluster_slots, nullptr) {}

  // Null if no server has the slot.
  [[nodiscard]] ServerQueue* queue_of(Slot slot) const noexcept { return queues_[slot]; }
  void set(Slot slot, ServerQueue* queue) noexcept { queues_[slot] = queue; }
  [[nodiscard]] bool lead_to(const ServerQueue& queue) const noexcept {
    return std::ranges::find(queues_, &queue) != queues_.end();
  }

 private:
  std::vector<ServerQueue*> queues_;  // indexed by slot
};

class RedisStore final : public Store,
                         private ServerQueue::Owner,
                         private SentinelWatch::Owner,
                         private SplitGroup::Owner,
                         private RefundGroup::Owner {
 public:
  // `counts` must outlive this object.
  RedisStore(net::Loop& loop, RedisOptions options, StoreCounts& counts);
  ~RedisStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // Sends one command about one key, independently of groups. It is tried once and never redirected. `handler` is
  // called once, with null if the connection is lost before the reply. If unavailable, returns false without a call.
  [[nodiscard]] bool try_query(std::string_view key, std::string_view command, ServerQueue::ReplyHandler handler);

  // True if every known server is connected.
  [[nodiscard]] bool connected() const noexcept;

  // True if groups would be decided: connected, no breaker open, and for a cluster the slot map is known.
  [[nodiscard]] bool ready() const noexcept;
  // Calls `callback` once, when first ready. It is called from within the store and must not submit.
  void on_ready(std::function<void()> callback) { on_ready_ = std::move(callback); }

 private:
  enum class Topology : std::uint8_t { unknown, single, sentinel, cluster };
  enum class LoggedState : std::uint8_t { none, available, unavailable };

  struct Server {
    std::unique_ptr<ServerQueue> queue;
    LoggedState logged = LoggedState::none;  // as last logged
    SteadyTime routed_at{};                  // in a cluster: when it last had slots
  };

  // A group that no server accepted; it is retried soon.
  struct Deferred {
    Group* group;
    SteadyTime deadline;
    Slot slot;
  };

  // ServerQueue::Owner
  [[nodiscard]] Result<void> on_info(ServerQueue& queue, const ServerInfo& info) override;
  void on_unconnected(ServerQueue& queue) override;
  [[nodiscard]] bool on_refused(ServerQueue& queue, const ScriptCall& call, std::string_view error) override;
  void on_change(ServerQueue& queue) override;
  // SentinelWatch::Owner
  void on_master(const net::Endpoint& master) override;
  void on_sentinel_lost(const std::string& what) override;
  // SplitGroup::Owner, RefundGroup::Owner
  void refund(const store::Check& check, const core::Charged& charged, Slot slot) override;
  void on_done(SplitGroup& split) override;
  void on_refunded(RefundGroup& refund) override;

  // Returns false if no server accepts the group.
  [[nodiscard]] bool route(Group& group);
  ServerQueue& add_queue();
  void tick(SteadyTime now);
  void log(Severity severity, const std::string& line) const;
  void log_state(Server& server);
  void sum_up();
  void notify_ready();

  // Cluster support, in redis_store_cluster.cpp.
  [[nodiscard]] bool ask_cluster(Group& group);
  [[nodiscard]] bool ask_split(Group& group);
  [[nodiscard]] ServerQueue& queue_to(const net::Endpoint& endpoint);
  [[nodiscard]] bool redirect(ServerQueue& queue, const ScriptCall& call, std::string_view error);
  void send_on(ServerQueue& there, const ScriptCall& call, bool asking);
  void try_again(ServerQueue& queue, const ScriptCall& call);
  void defer(const ScriptCall& call);
  void resume_deferred();
  void request_map();
  void ask_map(ServerQueue& queue);
  void take_map(ServerQueue& queue, const wire::resp::Reply& reply);
  void tick_cluster(SteadyTime now);

  net::Loop& loop_;
  const RedisOptions options_;
  StoreCounts& counts_;
  Topology topology_ = Topology::unknown;
  std::vector<Server> servers_;
  std::size_t next_seed_ = 0;
  std::unique_ptr<SentinelWatch> watch_;
  bool closing_ = false;
  std::function<void()> on_ready_;  // may be empty

  ClusterRoutes routes_;
  bool has_map_ = false;
  bool map_requested_ = false;
  bool map_in_flight_ = false;
  SteadyTime map_asked_at_{};
  std::vector<Slot> slots_;  // slots of the checks of one group
  std::vector<Deferred> deferred_;
  net::Timer deferral_;
  base::ObjectPool<SplitGroup> splits_;
  base::ObjectPool<RefundGroup> refunds_;

  std::shared_ptr<RedisStore*> self_;  // points to null after destruction; late ticks test that
};

}  // namespace weir::store::redis
