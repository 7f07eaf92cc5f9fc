// The queue to one server: collects groups, sends them as batches, and handles the server's failures. Used on the
// loop's thread.
//
// Batching: an idle queue sends the groups submitted in one iteration of the loop. While a batch is in flight, the next
// one collects groups, and is sent when the reply arrives; or earlier, if it is large or the reply takes longer than an
// eighth of the timeout, so that no group first waits for a whole slow round trip.
//
//  1. A sent batch is sent again only if the server reported that it did not start it.
//  2. A batch that is not answered by its oldest group's deadline is failed as a whole. It may have been executed.
//  3. No group is answered from within submit() or enqueue().
//  4. While the breaker is open no group waits here. The loop's ticks probe the server: by a group, or by a PING if
//     there is none; without a connection, by connecting.
//  5. An error about one key affects neither the server's state nor the other groups of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/loop.h"
#include "net/timer.h"
#include "store/outage/breaker.h"
#include "store/redis/redis_options.h"
#include "store/redis/replies.h"
#include "store/redis/script_call.h"
#include "store/redis/server_connection.h"
#include "store/store.h"
#include "store/store_counts.h"
#include "weir/result.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

class ServerQueue final : private ServerConnection::Owner {
 public:
  // Implemented by the owner of all queues. Must not destroy the queue from a callback.
  class Owner {
   public:
    // Called before the server is used, and periodically. On an error the connection is closed.
    [[nodiscard]] virtual Result<void> on_info(ServerQueue& queue, const ServerInfo& info) = 0;
    // The owner must call connect(), with this server or another.
    virtual void on_unconnected(ServerQueue& queue) = 0;
    // The server rejected an evaluation with an error that may mean "not here" or "not now". Return true if the groups
    // were queued again, here or elsewhere, or answered; false if the queue must answer them.
    [[nodiscard]] virtual bool on_refused(ServerQueue& queue, const ScriptCall& call, std::string_view error) = 0;
    // The state of the breaker or the connection changed.
    virtual void on_change(ServerQueue& queue) = 0;

   protected:
    ~Owner() = default;
  };

  // Called with null if the connection is lost before the reply.
  using ReplyHandler = std::function<void(const wire::resp::Reply* reply)>;

  // `options` and `counts` must outlive this object.
  ServerQueue(net::Loop& loop, const RedisOptions& options, StoreCounts& counts, Owner& owner);
  ~ServerQueue() override;  // fails all groups: `unavailable`, or `lost` if sent
  ServerQueue(const ServerQueue&) = delete;
  ServerQueue& operator=(const ServerQueue&) = delete;

  // Connects to the first or to another server. Unsent groups are sent to it; sent groups are lost.
  void connect(net::Endpoint endpoint);

  // Returns false if unavailable. Otherwise the group is answered within the timeout.
  [[nodiscard]] bool submit(Group& group, Slot slot);

  // These bypass the breaker, for groups already accepted.
  void enqueue(Group& group, SteadyTime deadline, Slot slot);
  void enqueue_alone(Group& group, SteadyTime deadline, Slot slot, bool asking);

  // Sends nothing more until reconnected, because this is no longer the right server.
  void pause() noexcept { paused_ = true; }

  // Must be called only while connected.
  void query(std::string_view command, ReplyHandler handler);
  // Sends a command independently of groups; its result does not affect the breaker. Returns false, without calling
  // `handler`, if unavailable.
  [[nodiscard]] bool try_query(std::string_view command, ReplyHandler handler);

  void tick(SteadyTime now);

  [[nodiscard]] BreakerState state() const noexcept { return breaker_.state(); }
  [[nodiscard]] bool connected() const noexcept { return greeted_; }
  [[nodiscard]] bool leads_to(const net::Endpoint& endpoint) const noexcept {
    return greeted_ && !paused_ && endpoint_ == endpoint;
  }
  [[nodiscard]] bool idle() const noexcept { return expected_.empty() && pending_.empty(); }
  [[nodiscard]] const net::Endpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] bool evicts() const noexcept { return info_ && info_->evicts(); }
  // The last error; empty: none yet.
  [[nodiscard]] const std::string& last_error() const noexcept { return last_error_; }
  void report_error(StoreError kind, std::string_view what);

 private:
  // An expected reply.
  struct Expected {
    std::unique_ptr<ScriptCall> call;  // for an evaluation; null for any other command
    ReplyHandler handler;              // may be empty
    SteadyTime sent_at{};
    bool ends_batch = false;
  };

  // Sending and answering, in server_queue.cpp.
  void on_reply(const wire::resp::Reply& reply) override;
  [[nodiscard]] SteadyTime turn_time() noexcept;
  void schedule(SteadyTime now);
  [[nodiscard]] bool may_depart(SteadyTime now) const noexcept;
  void depart_or_wait(SteadyTime now);
  void wait_to_depart();
  void depart(SteadyTime now);
  void send(std::unique_ptr<ScriptCall> call, SteadyTime now);
  void take_evaluation(std::unique_ptr<ScriptCall> call, const wire::resp::Reply& reply);
  void take_error(std::unique_ptr<ScriptCall> call, std::string_view text, SteadyTime now);
  void take_error_of_one_key(std::unique_ptr<ScriptCall> call);
  void repeat_with_script(std::unique_ptr<ScriptCall> call, SteadyTime now);
  void answer(std::unique_ptr<ScriptCall> call);
  void fail(std::unique_ptr<ScriptCall> call, Failure failure);
  void fail_pending();
  void note_clock(Instant theirs, Duration took);

  // Server health, in server_queue_health.cpp.
  void on_ready() override;
  void on_lost(const Error& error) override;
  void ask_info(SteadyTime now);
  void load_script();
  void take_info(const wire::resp::Reply& reply);
  void take_role(const wire::resp::Reply& reply);
  void take_script(const wire::resp::Reply& reply);
  void lose(StoreError kind, std::string_view what);
  void disconnect();
  void probe(SteadyTime now);
  void ping(SteadyTime now);
  void arm(SteadyTime deadline);
  void expire();
  void note_state();

  net::Loop& loop_;
  const RedisOptions& options_;
  StoreCounts& counts_;
  Owner& owner_;
  net::Endpoint endpoint_;
  std::unique_ptr<ServerConnection> connection_;
  Breaker breaker_;
  BreakerState reported_state_ = BreakerState::open;  // as last seen by the owner
  std::string last_error_;
  std::optional<ServerInfo> info_;
  SteadyTime info_at_{};  // when it was requested
  bool greeted_ = false;  // connected, and verified to be the right server
  bool script_under_way_ = false;
  bool paused_ = false;
  bool probe_pending_ = false;  // half-open, and no probe has started
  SteadyTime probing_since_{};

  PendingCalls pending_;
  std::deque<Expected> expected_;
  std::size_t batches_out_ = 0;
  SteadyTime departed_at_{};
  std::vector<std::unique_ptr<ScriptCall>> departing_;
  std::string bytes_;
  bool scheduled_ = false;
  SteadyTime turn_{};
  net::Timer departure_;
  bool departure_set_ = false;  // departure_ is set
  net::Timer timer_;
  SteadyTime armed_for_ = SteadyTime::max();  // when the timer fires, no later than any deadline; max(): not armed
  std::shared_ptr<ServerQueue*> self_;        // points to null after destruction; posted work tests that
};

}  // namespace weir::store::redis
