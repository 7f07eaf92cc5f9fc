// Limits shared through Redis: a single server, one that Sentinels watch over, or a cluster. Which of the two without
// Sentinels it is, the servers say themselves.
//
// Made, used and destroyed on the loop's thread (or while the loop does not run); not destroyed from within
// Callback::answered. What is under way then is answered before the destructor returns, with `away` or `lost`, and
// nobody is answered afterwards. The loop outlives it.
//
// It connects by itself, now and whenever it has to. Until it is connected, and while a server is away, submit() says
// so at once. Server queues have the servers (server_queue.h); a cluster's routes say which keys are whose (cluster.h).
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

// Which queue leads to the master of a slot.
class ClusterRoutes {
 public:
  ClusterRoutes() : queues_(cluster_slots, nullptr) {}

  // Null: nobody has it.
  [[nodiscard]] ServerQueue* queue_of(Slot slot) const noexcept { return queues_[slot]; }
  void set(Slot slot, ServerQueue* queue) noexcept { queues_[slot] = queue; }
  [[nodiscard]] bool lead_to(const ServerQueue& queue) const noexcept {
    return std::ranges::find(queues_, &queue) != queues_.end();
  }

 private:
  std::vector<ServerQueue*> queues_;  // by slot
};

class RedisStore final : public Store,
                         private ServerQueue::Owner,
                         private SentinelWatch::Owner,
                         private SplitGroup::Owner,
                         private RefundGroup::Owner {
 public:
  // `counts` outlives it.
  RedisStore(net::Loop& loop, RedisOptions options, StoreCounts& counts);
  ~RedisStore() override;

  using Store::submit;
  void submit(Batch batch) override;

  // One command about one key, beside the groups; tried once, and never sent on to another server. `told` is called
  // once, with null if the connection ends before the reply. False: the key's server is away, and `told` is not called.
  [[nodiscard]] bool try_query(std::string_view key, std::string_view command, ServerQueue::Told told);

  // Every server that is known answers.
  [[nodiscard]] bool connected() const noexcept;

  // Whether groups would be decided: connected, no breaker open, and of a cluster the map of its slots is known.
  [[nodiscard]] bool ready() const noexcept;
  // Calls `told` once, when it is ready for the first time. From within the store: it must not submit there and then.
  void on_ready(std::function<void()> told) { on_ready_ = std::move(told); }

 private:
  enum class Topology : std::uint8_t { unknown, single, sentinel, cluster };
  enum class Told : std::uint8_t { nothing, answers, away };

  struct Server {
    std::unique_ptr<ServerQueue> queue;
    Told told = Told::nothing;  // in the log
    SteadyTime routed_at{};     // in a cluster: when it was last seen to have slots
  };

  // A group that no server would take, and that is tried again soon.
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

  // False: nobody would take it.
  [[nodiscard]] bool route(Group& group);
  ServerQueue& add_queue();
  void tick(SteadyTime now);
  void log(News news, const std::string& line) const;
  void tell(Server& server);
  void sum_up();
  void tell_ready();

  // A cluster: redis_store_cluster.cpp.
  [[nodiscard]] bool ask_cluster(Group& group);
  [[nodiscard]] bool ask_split(Group& group);
  [[nodiscard]] ServerQueue& queue_to(const net::Endpoint& endpoint);
  [[nodiscard]] bool redirect(ServerQueue& queue, const ScriptCall& call, std::string_view error);
  void send_on(ServerQueue& there, const ScriptCall& call, bool asking);
  void try_again(ServerQueue& queue, const ScriptCall& call);
  void defer(const ScriptCall& call);
  void resume_deferred();
  void want_map();
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
  std::function<void()> on_ready_;  // empty: nobody waits for it

  ClusterRoutes routes_;
  bool has_map_ = false;
  bool map_wanted_ = false;
  bool map_under_way_ = false;
  SteadyTime map_asked_at_{};
  std::vector<Slot> slots_;  // of the checks of one group
  std::vector<Deferred> deferred_;
  net::Timer deferral_;
  base::ObjectPool<SplitGroup> splits_;
  base::ObjectPool<RefundGroup> refunds_;

  std::shared_ptr<RedisStore*> self_;  // null inside: the loop's ticks find it gone
};

}  // namespace weir::store::redis
