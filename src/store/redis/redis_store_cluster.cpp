// Cluster support: routes groups to servers and handles redirections.
#include <algorithm>
#include <utility>

#include "store/redis/cluster.h"
#include "store/redis/redis_store.h"
#include "store/redis/replies.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {
namespace {

constexpr Duration between_maps = std::chrono::milliseconds(100);
constexpr Duration before_trying_again = std::chrono::milliseconds(1);
constexpr Duration before_a_server_is_left = std::chrono::seconds(10);

}  // namespace

bool RedisStore::ask_cluster(Group& group) {
  slots_.clear();
  for (const store::Check& check : group.checks) slots_.push_back(cluster_slot(check.key));
  const Slot first = slots_.front();
  if (!std::ranges::all_of(slots_, [first](Slot slot) { return slot == first; })) return ask_split(group);
  if (ServerQueue* const queue = routes_.queue_of(first)) return queue->submit(group, first);
  counts_.turned_away.raise();
  return false;
}

bool RedisStore::ask_split(Group& group) {
  const SteadyTime now = SteadyTime::clock::now();
  const SteadyTime deadline = group.deadline.value_or(now + options_.timeout);
  const bool all_there = std::ranges::all_of(slots_, [this](Slot slot) {
    const ServerQueue* const queue = routes_.queue_of(slot);
    return queue != nullptr && queue->state() == BreakerState::closed;
  });
  if (!all_there || deadline <= now) {
    counts_.turned_away.raise();
    return false;
  }
  SplitGroup& split = splits_.acquire(static_cast<SplitGroup::Owner&>(*this));
  counts_.split_groups.raise();
  split.begin(group, slots_);
  for (SplitGroup::Part& part : split.parts()) {
    routes_.queue_of(part.slot)->enqueue(part.forwarded.group, deadline, part.slot);
  }
  return true;
}

ServerQueue& RedisStore::queue_to(const net::Endpoint& endpoint) {
  for (const Server& server : servers_) {
    if (server.queue->endpoint() == endpoint) return *server.queue;
  }
  ServerQueue& queue = add_queue();
  queue.connect(endpoint);
  sum_up();
  return queue;
}

bool RedisStore::redirect(ServerQueue& queue, const ScriptCall& call, std::string_view error) {
  switch (error_kind(error)) {
    case ErrorKind::moved:
    case ErrorKind::ask: {
      const auto redirect = parse_redirect(error, queue.endpoint());
      if (!redirect) return false;
      ServerQueue& there = queue_to(redirect->to);
      const bool asking = redirect->kind == ErrorKind::ask;
      if (!asking) {
        routes_.set(redirect->slot, &there);
        request_map();
      }
      send_on(there, call, asking);
      return true;
    }
    case ErrorKind::try_again:
      try_again(queue, call);
      return true;
    case ErrorKind::cluster_down:
    case ErrorKind::read_only:
      queue.report_error(StoreError::cluster_down, error);
      request_map();
      defer(call);
      return true;
    default:
      return false;
  }
}

// No group waits behind an open breaker.
void RedisStore::send_on(ServerQueue& there, const ScriptCall& call, bool asking) {
  const auto members = call.batch.members();
  const bool away = there.state() == BreakerState::open;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (away) {
      fail(*members[i], Failure::unavailable, counts_);
    } else if (asking) {
      there.enqueue_alone(*members[i], call.deadlines[i], call.slot, true);
    } else {
      there.enqueue(*members[i], call.deadlines[i], call.slot);
    }
  }
}

// TRYAGAIN: some keys have migrated to the slot's new server, and some have not. Sent alone, each group is answered
// where its key is; a group with several keys waits until they are together again.
void RedisStore::try_again(ServerQueue& queue, const ScriptCall& call) {
  const auto members = call.batch.members();
  if (members.size() == 1) return defer(call);
  for (std::size_t i = 0; i < members.size(); ++i) {
    queue.enqueue_alone(*members[i], call.deadlines[i], call.slot, call.asking);
  }
}

void RedisStore::defer(const ScriptCall& call) {
  const auto members = call.batch.members();
  if (deferred_.empty()) {
    deferral_.set(SteadyTime::clock::now() + before_trying_again, [this] { resume_deferred(); });
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    deferred_.push_back({members[i], call.deadlines[i], call.slot});
  }
}

void RedisStore::resume_deferred() {
  const SteadyTime now = SteadyTime::clock::now();
  for (const Deferred& one : std::exchange(deferred_, {})) {
    ServerQueue* const queue = routes_.queue_of(one.slot);
    if (queue == nullptr || queue->state() == BreakerState::open || one.deadline <= now) {
      fail(*one.group, Failure::unavailable, counts_);
    } else {
      queue->enqueue(*one.group, one.deadline, one.slot);
    }
  }
}

// Requests the map at once, or at the next tick if it was just read.
void RedisStore::request_map() {
  map_requested_ = true;
  const SteadyTime now = SteadyTime::clock::now();
  if (map_in_flight_ || closing_ || now - map_asked_at_ < between_maps) return;
  const auto connected = std::ranges::find_if(
      servers_, [](const Server& server) { return server.queue->connected() && server.queue->idle(); });
  const auto any = connected != servers_.end()
                       ? connected
                       : std::ranges::find_if(servers_, [](const Server& server) { return server.queue->connected(); });
  if (any != servers_.end()) ask_map(*any->queue);
}

void RedisStore::ask_map(ServerQueue& queue) {
  map_requested_ = false;
  map_in_flight_ = true;
  map_asked_at_ = SteadyTime::clock::now();
  std::string command;
  wire::resp::append_command(command, {"CLUSTER", "SLOTS"});
  queue.query(command, [this, &queue](const wire::resp::Reply* reply) {
    map_in_flight_ = false;
    if (reply != nullptr && !closing_) take_map(queue, *reply);
  });
}

void RedisStore::take_map(ServerQueue& queue, const wire::resp::Reply& reply) {
  const auto map = ClusterMap::read(reply, queue.endpoint());
  if (!map) return queue.report_error(StoreError::cluster_down, map.error().what);
  const auto before = servers_.size();
  std::vector<ServerQueue*> queues;
  for (const net::Endpoint& master : map->masters()) queues.push_back(&queue_to(master));
  for (Slot slot = 0; slot < cluster_slots; ++slot) {
    const net::Endpoint* const master = map->master_of(slot);
    // A slot without a master keeps its route, because its server may come back.
    if (master != nullptr) routes_.set(slot, queues[static_cast<std::size_t>(master - map->masters().data())]);
  }
  has_map_ = true;
  if (servers_.size() != before) log(Severity::info, "cluster of " + std::to_string(queues.size()) + " masters");
  notify_ready();
}

void RedisStore::tick_cluster(SteadyTime now) {
  const bool well =
      std::ranges::all_of(servers_, [](const Server& server) { return server.queue->state() == BreakerState::closed; });
  if (map_requested_ || !well) request_map();
  for (std::size_t i = 0; i < servers_.size() && servers_.size() > 1;) {
    Server& server = servers_[i];
    if (routes_.lead_to(*server.queue)) server.routed_at = now;
    if (server.queue->idle() && now - server.routed_at > before_a_server_is_left) {
      servers_.erase(servers_.begin() + static_cast<std::ptrdiff_t>(i));
      sum_up();
    } else {
      ++i;
    }
  }
}

}  // namespace weir::store::redis
