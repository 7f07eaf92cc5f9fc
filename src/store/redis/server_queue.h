// The way to one server: collects groups, sends them as batches, and stands up to what the server does meanwhile.
// All on the loop's thread.
//
// Batch while in flight: an idle queue sends what one turn of the loop pending. While a batch is at the server the next
// collects, and leaves when the answer is in; or sooner, when it is large or the answer takes longer than an eighth of
// the timeout, so that nobody waits for a whole slow round trip before its own begins.
//
//  1. What was sent is sent again only if the server said that it did not begin with it.
//  2. A batch that is not answered within the time of its oldest group is given up as a whole. It may have been done.
//  3. Nobody is answered from within submit() or enqueue().
//  4. While the breaker is open nothing waits here. It is probed from the loop's ticks: by a group, or by a PING if
//     nobody groups; without a connection, by connecting.
//  5. An error about one key says nothing against the server, nor against the other groups of the batch.
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
  // Who knows of the other servers. None of these calls may destroy the queue.
  class Owner {
   public:
    // Who the server is: before it is asked anything, and from time to time. An error: not the one that is wanted, and
    // the connection is closed.
    [[nodiscard]] virtual Result<void> on_info(ServerQueue& queue, const ServerInfo& info) = 0;
    // It is time to connect(), there or elsewhere.
    virtual void on_unconnected(ServerQueue& queue) = 0;
    // The server answers an evaluation with an error that may mean: not here, not now. True: the owner has pending the
    // groups anew, there or elsewhere, or has answered them. False: the queue answers them.
    [[nodiscard]] virtual bool on_refused(ServerQueue& queue, const ScriptCall& call, std::string_view error) = 0;
    // Its breaker or its connection is not what it was.
    virtual void on_change(ServerQueue& queue) = 0;

   protected:
    ~Owner() = default;
  };

  // Null: the connection ended first.
  using Told = std::function<void(const wire::resp::Reply* reply)>;

  // `options` and `counts` outlive it.
  ServerQueue(net::Loop& loop, const RedisOptions& options, StoreCounts& counts, Owner& owner);
  ~ServerQueue() override;  // what is here is answered: away, or lost if it was sent
  ServerQueue(const ServerQueue&) = delete;
  ServerQueue& operator=(const ServerQueue&) = delete;

  // To the first server, or to another one: what is not sent yet goes there, and what was is lost.
  void connect(net::Endpoint endpoint);

  // False: away. Otherwise it is answered within the timeout.
  [[nodiscard]] bool submit(Group& group, Slot slot);

  // Without asking the breaker: groups that are under way already.
  void enqueue(Group& group, SteadyTime deadline, Slot slot);
  void enqueue_alone(Group& group, SteadyTime deadline, Slot slot, bool asking);

  // Sends no more until it is connected anew: the server is not the right one any more.
  void hold() noexcept { held_ = true; }

  // Only when connected.
  void query(std::string_view command, Told told);
  // Beside the groups: what becomes of it says nothing for or against the server. False: it is away, and `told` is not
  // called.
  [[nodiscard]] bool try_query(std::string_view command, Told told);

  void tick(SteadyTime now);

  [[nodiscard]] BreakerState state() const noexcept { return breaker_.state(); }
  [[nodiscard]] bool connected() const noexcept { return greeted_; }
  [[nodiscard]] bool leads_to(const net::Endpoint& endpoint) const noexcept {
    return greeted_ && !held_ && endpoint_ == endpoint;
  }
  [[nodiscard]] bool idle() const noexcept { return expected_.empty() && pending_.empty(); }
  [[nodiscard]] const net::Endpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] bool evicts() const noexcept { return info_ && info_->evicts(); }
  // What went wrong last; empty: nothing yet.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }
  void complain(StoreError kind, std::string_view what);

 private:
  // What the next reply is of.
  struct Expected {
    std::unique_ptr<ScriptCall> call;  // an evaluation; otherwise another command
    Told told;                         // may be empty
    SteadyTime sent_at{};
    bool ends_batch = false;
  };

  // Sending and answering: queue.cpp.
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

  // The server's health: lane_health.cpp.
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
  BreakerState told_ = BreakerState::open;  // the owner
  std::string complaint_;
  std::optional<ServerInfo> info_;
  SteadyTime info_at_{};  // asked for
  bool greeted_ = false;  // connected, and the server is the one that is wanted
  bool script_under_way_ = false;
  bool held_ = false;
  bool probe_wanted_ = false;  // half-open, and no probe has begun
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
  bool waits_to_depart_ = false;  // departure_ is set
  net::Timer timer_;
  SteadyTime armed_for_ = SteadyTime::max();  // the oldest deadline, or earlier; SteadyTime::max(): not armed
  std::shared_ptr<ServerQueue*> self_;        // null inside: what was posted finds it gone
};

}  // namespace weir::store::redis
