// Limits shared through Redis: a single server, one that Sentinels watch over, or a cluster. Which of the two without
// Sentinels it is, the servers say themselves.
//
// Made, used and destroyed on the loop's thread (or while the loop does not run); not destroyed from within
// SharedAsker::answered. What is under way then is answered before the destructor returns, with `away` or `lost`, and
// nobody is answered afterwards. The loop outlives it.
//
// It connects by itself, now and whenever it has to. Until it is connected, and while a server is away, ask() says so
// at once. Lanes have the servers (lane.h); a cluster's routes say which keys are whose (cluster_routes.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/endpoint.h"
#include "net/loop.h"
#include "net/timer.h"
#include "store/redis/cluster_routes.h"
#include "store/redis/lane.h"
#include "store/redis/redis_options.h"
#include "store/redis/sentinel_watch.h"
#include "store/redis/split_ask.h"
#include "store/shared/shared_store.h"
#include "store/shared/store_counts.h"
#include "weir/result.h"

namespace weir::store::redis {

class RedisStore final : public SharedStore,
                         private Lane::Owner,
                         private SentinelWatch::Owner,
                         private SplitAsk::Owner,
                         private RefundAsk::Owner {
 public:
  // `counts` outlives it.
  RedisStore(net::Loop& loop, RedisOptions options, StoreCounts& counts);
  ~RedisStore() override;

  [[nodiscard]] bool ask(SharedAsk& ask) override;
  [[nodiscard]] AskDeadline deadline() const override { return AskDeadline::clock::now() + options_.timeout; }

  // Every server that is known answers.
  [[nodiscard]] bool connected() const noexcept;

 private:
  enum class Topology : std::uint8_t { unknown, single, sentinel, cluster };
  enum class Told : std::uint8_t { nothing, answers, away };

  struct Server {
    std::unique_ptr<Lane> lane;
    Told told = Told::nothing;  // in the log
    Moment routed_at{};         // in a cluster: when it was last seen to have slots
  };

  // An ask that no server would take, and that is tried again soon.
  struct Deferred {
    SharedAsk* ask;
    Moment deadline;
    Slot slot;
  };

  // Lane::Owner
  [[nodiscard]] Result<void> on_info(Lane& lane, const ServerInfo& info) override;
  void on_unconnected(Lane& lane) override;
  [[nodiscard]] bool on_refused(Lane& lane, const Flight& flight, std::string_view error) override;
  void on_change(Lane& lane) override;
  // SentinelWatch::Owner
  void on_master(const net::Endpoint& master) override;
  void on_sentinel_lost(const std::string& what) override;
  // SplitAsk::Owner, RefundAsk::Owner
  void refund(const SharedCheck& charged, Instant charged_at, Slot slot) override;
  void on_done(SplitAsk& split) override;
  void on_refunded(RefundAsk& refund) override;

  Lane& add_lane();
  void tick(Moment now);
  void log(News news, const std::string& line) const;
  void tell(Server& server);
  void sum_up();

  // A cluster: redis_store_cluster.cpp.
  [[nodiscard]] bool ask_cluster(SharedAsk& ask);
  [[nodiscard]] bool ask_split(SharedAsk& ask);
  [[nodiscard]] Lane& lane_to(const net::Endpoint& endpoint);
  [[nodiscard]] bool redirect(Lane& lane, const Flight& flight, std::string_view error);
  void send_on(Lane& there, const Flight& flight, bool asking);
  void try_again(Lane& lane, const Flight& flight);
  void defer(const Flight& flight);
  void resume_deferred();
  void want_map();
  void ask_map(Lane& lane);
  void take_map(Lane& lane, const wire::resp::Reply& reply);
  void tick_cluster(Moment now);

  net::Loop& loop_;
  const RedisOptions options_;
  StoreCounts& counts_;
  Topology topology_ = Topology::unknown;
  std::vector<Server> servers_;
  std::size_t next_seed_ = 0;
  std::unique_ptr<SentinelWatch> watch_;
  bool closing_ = false;

  ClusterRoutes routes_;
  bool map_wanted_ = false;
  bool map_under_way_ = false;
  Moment map_asked_at_{};
  std::vector<Slot> slots_;  // of the checks of one ask
  std::vector<Deferred> deferred_;
  net::Timer deferral_;
  std::vector<std::unique_ptr<SplitAsk>> splits_;
  std::vector<SplitAsk*> free_splits_;
  std::vector<std::unique_ptr<RefundAsk>> refunds_;
  std::vector<RefundAsk*> free_refunds_;

  std::shared_ptr<RedisStore*> self_;  // null inside: the loop's ticks find it gone
};

}  // namespace weir::store::redis
