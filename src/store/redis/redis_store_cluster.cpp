// A store on a cluster: which server an ask goes to, and what becomes of it when it was the wrong one.
#include <algorithm>
#include <utility>

#include "store/redis/cluster_map.h"
#include "store/redis/cluster_slot.h"
#include "store/redis/error_kind.h"
#include "store/redis/redis_store.h"
#include "wire/resp/command_writer.h"

namespace weir::store::redis {
namespace {

constexpr Duration between_maps = std::chrono::milliseconds(100);
constexpr Duration before_trying_again = std::chrono::milliseconds(1);
constexpr Duration before_a_server_is_left = std::chrono::seconds(10);

}  // namespace

bool RedisStore::ask_cluster(SharedAsk& ask) {
  slots_.clear();
  for (const SharedCheck& check : ask.checks) slots_.push_back(cluster_slot(check.key));
  const Slot first = slots_.front();
  if (!std::ranges::all_of(slots_, [first](Slot slot) { return slot == first; })) return ask_split(ask);
  if (Lane* const lane = routes_.lane_of(first)) return lane->ask(ask, first);
  counts_.turned_away.raise();
  return false;
}

bool RedisStore::ask_split(SharedAsk& ask) {
  const Moment now = Moment::clock::now();
  const Moment deadline = ask.deadline.value_or(now + options_.timeout);
  const bool all_there = std::ranges::all_of(slots_, [this](Slot slot) {
    const Lane* const lane = routes_.lane_of(slot);
    return lane != nullptr && lane->state() == BreakerState::closed;
  });
  if (!all_there || deadline <= now) {
    counts_.turned_away.raise();
    return false;
  }
  if (free_splits_.empty()) {
    splits_.push_back(std::make_unique<SplitAsk>(static_cast<SplitAsk::Owner&>(*this)));
    free_splits_.push_back(splits_.back().get());
  }
  SplitAsk& split = *free_splits_.back();
  free_splits_.pop_back();
  counts_.split_asks.raise();
  split.begin(ask, slots_);
  for (SplitAsk::Part& part : split.parts()) routes_.lane_of(part.slot)->gather(part.ask, deadline, part.slot);
  return true;
}

Lane& RedisStore::lane_to(const net::Endpoint& endpoint) {
  for (const Server& server : servers_) {
    if (server.lane->endpoint() == endpoint) return *server.lane;
  }
  Lane& lane = add_lane();
  lane.connect(endpoint);
  sum_up();
  return lane;
}

bool RedisStore::redirect(Lane& lane, const Flight& flight, std::string_view error) {
  switch (error_kind(error)) {
    case ErrorKind::moved:
    case ErrorKind::ask: {
      const auto redirect = parse_redirect(error, lane.endpoint());
      if (!redirect) return false;
      Lane& there = lane_to(redirect->to);
      const bool asking = redirect->kind == ErrorKind::ask;
      if (!asking) {
        routes_.set(redirect->slot, &there);
        want_map();
      }
      send_on(there, flight, asking);
      return true;
    }
    case ErrorKind::try_again:
      try_again(lane, flight);
      return true;
    case ErrorKind::cluster_down:
    case ErrorKind::read_only:
      lane.complain(StoreError::cluster_down, error);
      want_map();
      defer(flight);
      return true;
    default:
      return false;
  }
}

// Nothing waits behind an open breaker.
void RedisStore::send_on(Lane& there, const Flight& flight, bool asking) {
  const auto members = flight.batch.members();
  const bool away = there.state() == BreakerState::open;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (away) {
      fail(*members[i], StoreFailure::away, counts_);
    } else if (asking) {
      there.gather_alone(*members[i], flight.deadlines[i], flight.slot, true);
    } else {
      there.gather(*members[i], flight.deadlines[i], flight.slot);
    }
  }
}

// Some of its keys have moved to the slot's next server, some have not. Alone, each ask is answered where its key is;
// one that has several keys waits until they are together again.
void RedisStore::try_again(Lane& lane, const Flight& flight) {
  const auto members = flight.batch.members();
  if (members.size() == 1) return defer(flight);
  for (std::size_t i = 0; i < members.size(); ++i) {
    lane.gather_alone(*members[i], flight.deadlines[i], flight.slot, flight.asking);
  }
}

void RedisStore::defer(const Flight& flight) {
  const auto members = flight.batch.members();
  if (deferred_.empty()) {
    deferral_.set(Moment::clock::now() + before_trying_again, [this] { resume_deferred(); });
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    deferred_.push_back({members[i], flight.deadlines[i], flight.slot});
  }
}

void RedisStore::resume_deferred() {
  const Moment now = Moment::clock::now();
  for (const Deferred& one : std::exchange(deferred_, {})) {
    Lane* const lane = routes_.lane_of(one.slot);
    if (lane == nullptr || lane->state() == BreakerState::open || one.deadline <= now) {
      fail(*one.ask, StoreFailure::away, counts_);
    } else {
      lane->gather(*one.ask, one.deadline, one.slot);
    }
  }
}

// Soon: at once, or at a tick if one was read just now.
void RedisStore::want_map() {
  map_wanted_ = true;
  const Moment now = Moment::clock::now();
  if (map_under_way_ || closing_ || now - map_asked_at_ < between_maps) return;
  const auto connected = std::ranges::find_if(
      servers_, [](const Server& server) { return server.lane->connected() && server.lane->idle(); });
  const auto any = connected != servers_.end()
                       ? connected
                       : std::ranges::find_if(servers_, [](const Server& server) { return server.lane->connected(); });
  if (any != servers_.end()) ask_map(*any->lane);
}

void RedisStore::ask_map(Lane& lane) {
  map_wanted_ = false;
  map_under_way_ = true;
  map_asked_at_ = Moment::clock::now();
  std::string command;
  wire::resp::append_command(command, {"CLUSTER", "SLOTS"});
  lane.query(command, [this, &lane](const wire::resp::Reply* reply) {
    map_under_way_ = false;
    if (reply != nullptr && !closing_) take_map(lane, *reply);
  });
}

void RedisStore::take_map(Lane& lane, const wire::resp::Reply& reply) {
  const auto map = ClusterMap::read(reply, lane.endpoint());
  if (!map) return lane.complain(StoreError::cluster_down, map.error().what);
  const auto before = servers_.size();
  std::vector<Lane*> lanes;
  for (const net::Endpoint& master : map->masters()) lanes.push_back(&lane_to(master));
  for (Slot slot = 0; slot < cluster_slots; ++slot) {
    const net::Endpoint* const master = map->master_of(slot);
    // A slot that nobody has for the moment stays where it was: its server may come back.
    if (master != nullptr) routes_.set(slot, lanes[static_cast<std::size_t>(master - map->masters().data())]);
  }
  if (servers_.size() != before) log(News::good, "a cluster of " + std::to_string(lanes.size()) + " masters");
}

void RedisStore::tick_cluster(Moment now) {
  const bool well =
      std::ranges::all_of(servers_, [](const Server& server) { return server.lane->state() == BreakerState::closed; });
  if (map_wanted_ || !well) want_map();
  for (std::size_t i = 0; i < servers_.size() && servers_.size() > 1;) {
    Server& server = servers_[i];
    if (routes_.lead_to(*server.lane)) server.routed_at = now;
    if (server.lane->idle() && now - server.routed_at > before_a_server_is_left) {
      servers_.erase(servers_.begin() + static_cast<std::ptrdiff_t>(i));
      sum_up();
    } else {
      ++i;
    }
  }
}

}  // namespace weir::store::redis
