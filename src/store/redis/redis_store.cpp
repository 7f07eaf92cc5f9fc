#include "store/redis/redis_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "store/redis/replies.h"

namespace weir::store::redis {
namespace {

constexpr Duration refund_timeout = std::chrono::seconds(1);

std::int64_t wall_time() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

RedisStore::RedisStore(net::Loop& loop, RedisOptions options, StoreCounts& counts)
    : loop_(loop),
      options_(std::move(options)),
      counts_(counts),
      deferral_(loop),
      self_(std::make_shared<RedisStore*>(this)) {
  loop_.every_tick([self = self_](SteadyTime now) {
    if (*self != nullptr) (*self)->tick(now);
    return *self != nullptr;
  });
  ServerQueue& queue = add_queue();
  if (options_.sentinel) {
    topology_ = Topology::sentinel;
    watch_ = std::make_unique<SentinelWatch>(loop_, options_, static_cast<SentinelWatch::Owner&>(*this));
  }
  on_unconnected(queue);
  sum_up();
}

RedisStore::~RedisStore() {
  *self_ = nullptr;
  closing_ = true;
  watch_.reset();
  for (const Deferred& one : std::exchange(deferred_, {})) fail(*one.group, Failure::unavailable, counts_);
  servers_.clear();
  sum_up();
}

void RedisStore::submit(Batch batch) {
  for (Group* group : batch) {
    if (route(*group)) continue;
    group->failure = Failure::unavailable;
    group->decided = group->admitted = false;
    group->callback->answered(*group);
  }
}

bool RedisStore::route(Group& group) {
  if (closing_ || topology_ == Topology::unknown) {
    counts_.turned_away.raise();
    return false;
  }
  if (topology_ == Topology::cluster) return ask_cluster(group);
  return servers_.front().queue->submit(group, 0);
}

// Does not follow redirections: after a slot has migrated, commands fail until the map is updated.
bool RedisStore::try_query(std::string_view key, std::string_view command, ServerQueue::ReplyHandler handler) {
  if (closing_ || topology_ == Topology::unknown) return false;
  if (topology_ != Topology::cluster) return servers_.front().queue->try_query(command, std::move(handler));
  ServerQueue* const queue = routes_.queue_of(cluster_slot(key));
  if (queue == nullptr) return false;
  return queue->try_query(command, [this, handler = std::move(handler)](const wire::resp::Reply* reply) {
    const bool is_error = reply != nullptr && reply->is(wire::resp::ReplyType::error);
    if (is_error && store_error(error_kind(reply->text())) == StoreError::cluster_down) request_map();
    handler(reply);
  });
}

bool RedisStore::connected() const noexcept {
  return topology_ != Topology::unknown &&
         std::ranges::all_of(servers_, [](const Server& server) { return server.queue->connected(); });
}

bool RedisStore::ready() const noexcept {
  const auto answers = [](const Server& server) { return server.queue->state() == BreakerState::closed; };
  return connected() && std::ranges::all_of(servers_, answers) && (topology_ != Topology::cluster || has_map_);
}

void RedisStore::notify_ready() {
  if (on_ready_ && !closing_ && ready()) std::exchange(on_ready_, nullptr)();
}

ServerQueue& RedisStore::add_queue() {
  servers_.push_back({std::make_unique<ServerQueue>(loop_, options_, counts_, static_cast<ServerQueue::Owner&>(*this)),
                      LoggedState::none, SteadyTime::clock::now()});
  return *servers_.back().queue;
}

// If several servers are configured, rejects a server that is not part of a cluster, because it would have separate
// state.
Result<void> RedisStore::on_info(ServerQueue& queue, const ServerInfo& info) {
  if (topology_ == Topology::sentinel) return {};
  if (!info.cluster) {
    if (topology_ == Topology::cluster) return failure(queue.endpoint().text(), "is no longer part of a cluster");
    if (options_.servers.size() > 1) {
      return failure(queue.endpoint().text(), "is not part of a cluster; configure one url, or those of one cluster");
    }
    topology_ = Topology::single;
    return {};
  }
  if (options_.database != 0)
    return failure(queue.endpoint().text(), "is part of a cluster, which supports only database 0");
  topology_ = Topology::cluster;
  map_requested_ = true;
  return {};
}

void RedisStore::on_unconnected(ServerQueue& queue) {
  if (watch_) return watch_->find();
  const bool leads = &queue == servers_.front().queue.get();
  queue.connect(leads ? options_.servers[next_seed_++ % options_.servers.size()] : queue.endpoint());
}

bool RedisStore::on_refused(ServerQueue& queue, const ScriptCall& call, std::string_view error) {
  if (closing_) return false;
  if (topology_ == Topology::cluster) return redirect(queue, call, error);
  if (topology_ != Topology::sentinel || error_kind(error) != ErrorKind::read_only) return false;
  queue.report_error(StoreError::read_only, error);
  queue.pause();
  const auto members = call.batch.members();
  for (std::size_t i = 0; i < members.size(); ++i) queue.enqueue(*members[i], call.deadlines[i], call.slot);
  watch_->find();
  return true;
}

void RedisStore::on_master(const net::Endpoint& master) {
  ServerQueue& queue = *servers_.front().queue;
  if (queue.leads_to(master)) return;
  if (queue.connected()) log(Severity::info, "switched to master " + master.text());
  queue.connect(master);
}

void RedisStore::on_sentinel_lost(const std::string& what) {
  counts_.of(StoreError::unreachable).raise();
  counts_.last_error.set("Sentinel " + what, Instant{Duration{wall_time()}});
}

void RedisStore::on_change(ServerQueue& queue) {
  for (Server& server : servers_) {
    if (server.queue.get() == &queue) log_state(server);
  }
  sum_up();
  notify_ready();
  if (topology_ == Topology::cluster && queue.state() != BreakerState::half_open) request_map();
}

void RedisStore::log_state(Server& server) {
  const ServerQueue& queue = *server.queue;
  if (queue.state() == BreakerState::closed && queue.connected() && server.logged != LoggedState::available) {
    server.logged = LoggedState::available;
    log(Severity::info, queue.endpoint().text() + " is available");
    if (queue.evicts()) {
      log(Severity::warning,
          queue.endpoint().text() + " may evict keys, which resets limits; set its maxmemory-policy to noeviction");
    }
  }
  if (queue.state() == BreakerState::open && server.logged != LoggedState::unavailable && !closing_) {
    server.logged = LoggedState::unavailable;
    log(Severity::warning,
        "unavailable: " + queue.last_error() + "; each limit's on_store_failure applies until it is available");
  }
}

void RedisStore::sum_up() {
  std::array<std::int64_t, breaker_states> states{};
  std::int64_t connections = 0;
  std::int64_t evicting = 0;
  for (const Server& server : servers_) {
    ++states[static_cast<std::size_t>(server.queue->state())];
    connections += server.queue->connected() ? 1 : 0;
    evicting += server.queue->evicts() ? 1 : 0;
  }
  const auto all = static_cast<std::int64_t>(servers_.size());
  counts_.servers.set(all);
  counts_.connected.set(connections);
  counts_.evicting.set(evicting);
  for (std::size_t i = 0; i < states.size(); ++i) counts_.breakers[i].set(states[i]);
  const bool well = states[static_cast<std::size_t>(BreakerState::closed)] == all;
  if (well) counts_.unavailable_since.set(0);
  if (!well && counts_.unavailable_since.value() == 0) counts_.unavailable_since.set(wall_time());
}

void RedisStore::tick(SteadyTime now) {
  for (const Server& server : servers_) server.queue->tick(now);
  if (watch_) watch_->tick(now);
  if (topology_ == Topology::cluster) tick_cluster(now);
}

void RedisStore::log(Severity severity, const std::string& line) const {
  if (options_.log) options_.log(severity, "store: " + line);
}

void RedisStore::refund(const store::Check& check, const core::Charged& charged, Slot slot) {
  counts_.refunds.raise();
  ServerQueue* const queue = closing_ ? nullptr : routes_.queue_of(slot);
  if (queue == nullptr || queue->state() != BreakerState::closed) return counts_.lost_refunds.raise();
  RefundGroup& refund = refunds_.acquire(static_cast<RefundGroup::Owner&>(*this));
  queue->enqueue(refund.prepare(check, charged), SteadyTime::clock::now() + refund_timeout, slot);
}

void RedisStore::on_refunded(RefundGroup& refund) {
  if (!refund.done()) counts_.lost_refunds.raise();
  refunds_.release(refund);
}

void RedisStore::on_done(SplitGroup& split) {
  splits_.release(split);
}

}  // namespace weir::store::redis
