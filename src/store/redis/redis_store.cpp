#include "store/redis/redis_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "store/redis/error_kind.h"

namespace weir::store::redis {
namespace {

constexpr Duration refund_patience = std::chrono::seconds(1);

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
  loop_.every_tick([self = self_](Moment now) {
    if (*self != nullptr) (*self)->tick(now);
    return *self != nullptr;
  });
  Lane& lane = add_lane();
  if (options_.sentinel) {
    topology_ = Topology::sentinel;
    watch_ = std::make_unique<SentinelWatch>(loop_, options_, static_cast<SentinelWatch::Owner&>(*this));
  }
  on_unconnected(lane);
  sum_up();
}

RedisStore::~RedisStore() {
  *self_ = nullptr;
  closing_ = true;
  watch_.reset();
  for (const Deferred& one : std::exchange(deferred_, {})) fail(*one.ask, StoreFailure::away, counts_);
  servers_.clear();
  sum_up();
}

bool RedisStore::ask(SharedAsk& ask) {
  if (closing_ || topology_ == Topology::unknown) {
    counts_.turned_away.raise();
    return false;
  }
  if (topology_ == Topology::cluster) return ask_cluster(ask);
  return servers_.front().lane->ask(ask, 0);
}

bool RedisStore::connected() const noexcept {
  return topology_ != Topology::unknown &&
         std::ranges::all_of(servers_, [](const Server& server) { return server.lane->connected(); });
}

Lane& RedisStore::add_lane() {
  servers_.push_back({std::make_unique<Lane>(loop_, options_, counts_, static_cast<Lane::Owner&>(*this)), Told::nothing,
                      Moment::clock::now()});
  return *servers_.back().lane;
}

// One server among several that is not of a cluster would be a truth of its own: refused.
Result<void> RedisStore::on_info(Lane& lane, const ServerInfo& info) {
  if (topology_ == Topology::sentinel) return {};
  if (!info.cluster) {
    if (topology_ == Topology::cluster) return failure(lane.endpoint().text(), "is not of a cluster any more");
    if (options_.servers.size() > 1) {
      return failure(lane.endpoint().text(), "is not of a cluster; give one url, or those of one cluster");
    }
    topology_ = Topology::single;
    return {};
  }
  if (options_.database != 0) return failure(lane.endpoint().text(), "is of a cluster, which has database 0 only");
  topology_ = Topology::cluster;
  map_wanted_ = true;
  return {};
}

void RedisStore::on_unconnected(Lane& lane) {
  if (watch_) return watch_->find();
  const bool leads = &lane == servers_.front().lane.get();
  lane.connect(leads ? options_.servers[next_seed_++ % options_.servers.size()] : lane.endpoint());
}

bool RedisStore::on_refused(Lane& lane, const Flight& flight, std::string_view error) {
  if (closing_) return false;
  if (topology_ == Topology::cluster) return redirect(lane, flight, error);
  if (topology_ != Topology::sentinel || error_kind(error) != ErrorKind::read_only) return false;
  lane.complain(StoreError::read_only, error);
  lane.hold();
  const auto members = flight.batch.members();
  for (std::size_t i = 0; i < members.size(); ++i) lane.gather(*members[i], flight.deadlines[i], flight.slot);
  watch_->find();
  return true;
}

void RedisStore::on_master(const net::Endpoint& master) {
  Lane& lane = *servers_.front().lane;
  if (lane.leads_to(master)) return;
  if (lane.connected()) log(News::good, "the master is now " + master.text());
  lane.connect(master);
}

void RedisStore::on_sentinel_lost(const std::string& what) {
  counts_.of(StoreError::unreachable).raise();
  counts_.last_error.set("Sentinel " + what, Instant{Duration{wall_time()}});
}

void RedisStore::on_change(Lane& lane) {
  for (Server& server : servers_) {
    if (server.lane.get() == &lane) tell(server);
  }
  sum_up();
  if (topology_ == Topology::cluster && lane.state() != BreakerState::half_open) want_map();
}

void RedisStore::tell(Server& server) {
  const Lane& lane = *server.lane;
  if (lane.state() == BreakerState::closed && lane.connected() && server.told != Told::answers) {
    server.told = Told::answers;
    log(News::good, lane.endpoint().text() + " answers");
    if (lane.evicts()) {
      log(News::bad,
          lane.endpoint().text() + " may evict keys, and so forget limits; set its maxmemory-policy to noeviction");
    }
  }
  if (lane.state() == BreakerState::open && server.told != Told::away && !closing_) {
    server.told = Told::away;
    log(News::bad, lane.complaint() + "; limits are judged as on_store_failure says until it answers");
  }
}

void RedisStore::sum_up() {
  std::array<std::int64_t, breaker_states> states{};
  std::int64_t connections = 0;
  std::int64_t evicting = 0;
  for (const Server& server : servers_) {
    ++states[static_cast<std::size_t>(server.lane->state())];
    connections += server.lane->connected() ? 1 : 0;
    evicting += server.lane->evicts() ? 1 : 0;
  }
  const auto all = static_cast<std::int64_t>(servers_.size());
  counts_.servers.set(all);
  counts_.connected.set(connections);
  counts_.evicting.set(evicting);
  for (std::size_t i = 0; i < states.size(); ++i) counts_.breakers[i].set(states[i]);
  const bool well = states[static_cast<std::size_t>(BreakerState::closed)] == all;
  if (well) counts_.away_since.set(0);
  if (!well && counts_.away_since.value() == 0) counts_.away_since.set(wall_time());
}

void RedisStore::tick(Moment now) {
  for (const Server& server : servers_) server.lane->tick(now);
  if (watch_) watch_->tick(now);
  if (topology_ == Topology::cluster) tick_cluster(now);
}

void RedisStore::log(News news, const std::string& line) const {
  if (options_.log) options_.log(news, "store: " + line);
}

void RedisStore::refund(const SharedCheck& charged, Instant charged_at, Slot slot) {
  counts_.refunds.raise();
  Lane* const lane = closing_ ? nullptr : routes_.lane_of(slot);
  if (lane == nullptr || lane->state() != BreakerState::closed) return counts_.lost_refunds.raise();
  if (free_refunds_.empty()) {
    refunds_.push_back(std::make_unique<RefundAsk>(static_cast<RefundAsk::Owner&>(*this)));
    free_refunds_.push_back(refunds_.back().get());
  }
  RefundAsk& refund = *free_refunds_.back();
  free_refunds_.pop_back();
  lane->gather(refund.prepare(charged, charged_at), Moment::clock::now() + refund_patience, slot);
}

void RedisStore::on_refunded(RefundAsk& refund) {
  if (!refund.done()) counts_.lost_refunds.raise();
  free_refunds_.push_back(&refund);
}

void RedisStore::on_done(SplitAsk& split) {
  free_splits_.push_back(&split);
}

}  // namespace weir::store::redis
