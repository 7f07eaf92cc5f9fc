// The part of --check that connects to Redis.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "net/loop.h"
#include "policy/words.h"
#include "server/check.h"
#include "server/redis_facts.h"
#include "server/shared_limits.h"
#include "store/redis/cluster.h"
#include "store/redis/replies.h"

namespace weir::server {
namespace {

using std::chrono::steady_clock;
using store::redis::ClusterMap;
using store::redis::ServerRole;
using wire::resp::Reply;
using wire::resp::ReplyType;

constexpr auto timeout = std::chrono::seconds(2);      // for one server
constexpr auto all_timeout = std::chrono::seconds(8);  // after this time, no further server is tried
constexpr auto clock_slack = std::chrono::seconds(1);

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string precise(Duration time) {
  const auto whole = time.count();
  return whole < 10'000 ? fmt::format("{} us", whole) : fmt::format("{} ms", whole / 1'000);
}

std::string clock_text(Duration ahead) {
  return fmt::format("its clock {} {} this host's", precise(std::chrono::abs(ahead)),
                     ahead < Duration::zero() ? "behind" : "ahead of");
}

// Counts replicas by address. A row of CLUSTER SLOTS is first slot, last slot, master, replicas.
std::size_t replicas_in(const Reply& slots) {
  std::set<std::string> replicas;
  for (const Reply row : slots) {
    for (std::size_t i = 3; i < row.size(); ++i) {
      if (row[i].size() < 2) continue;
      replicas.insert(fmt::format("{}:{}", row[i][0].text(), row[i][1].integer()));
    }
  }
  return replicas.size();
}

class StoreInspection {
 public:
  StoreInspection(net::Loop& loop, const RedisConfig& redis, const StoreAccess& access, CheckReport& report)
      : loop_(loop), redis_(redis), access_(access), report_(report) {}

  void run() {
    if (redis_.sentinel) {
      inspect_sentinels();
    } else {
      inspect_servers();
    }
  }

 private:
  void line(const std::string& text) { report_.lines.push_back("store: " + text); }
  void warn(const std::string& text) { report_.lines.push_back("warning: store: " + text); }
  void fail(const std::string& text) { report_.errors.push_back("store.redis: " + text); }

  [[nodiscard]] bool in_time() const { return steady_clock::now() < deadline_; }

  // Returns a connected probe.
  Result<std::unique_ptr<RedisProbe>> open(store::redis::ServerConnection::Options options) {
    if (!in_time()) return failure(options.endpoint.text(), "not tried: the other servers took too long");
    options.connect_timeout = timeout;
    auto probe = std::make_unique<RedisProbe>(loop_, std::move(options));
    if (auto connected = probe->connect(); !connected) return tl::unexpected(connected.error());
    return probe;
  }

  // Returns no value, and reports why, if the server cannot store limits.
  std::optional<RedisFacts> inspect(const net::Endpoint& endpoint) {
    auto probe = open(server_options(redis_, access_, endpoint));
    auto facts = probe ? gather_facts(**probe, redis_.prefix) : Result<RedisFacts>(tl::unexpected(probe.error()));
    if (!facts) {
      fail(facts.error().message());
      return {};
    }
    const std::string where = endpoint.text();
    const std::size_t before = report_.errors.size();
    validate(where, *facts);
    if (report_.errors.size() > before) return {};
    return *std::move(facts);
  }

  void validate(const std::string& where, const RedisFacts& facts) {
    if (!facts.forbidden.empty()) {
      return fail(fmt::format("{}: the user lacks permissions ({}); docs/shared-store.md lists the required ACL", where,
                              facts.forbidden));
    }
    if (facts.role == ServerRole::sentinel) {
      return fail(fmt::format("{}: this is a sentinel, not a server; set sentinel: {{ master: NAME }}", where));
    }
    if (is_too_old(facts.info.version)) {
      return fail(fmt::format("{}: Redis {} is too old; 6.2 or later is required", where, facts.info.version));
    }
    if (facts.role == ServerRole::replica) {
      return fail(fmt::format("{}: this is a read-only replica; use the URL of its master, or the sentinels", where));
    }
    if (facts.info.evicts()) {
      warn(fmt::format("{} has maxmemory-policy {}: evicting a key silently resets its limit; set noeviction", where,
                       facts.info.eviction_policy));
    }
    if (facts.round_trip > redis_.timeout) {
      warn(fmt::format("{}: round trip {} exceeds timeout {}: most decisions would fall back to on_store_failure",
                       where, precise(facts.round_trip), policy::duration_text(redis_.timeout)));
    }
    if (std::chrono::abs(facts.clock_ahead) > clock_slack) {
      warn(fmt::format("{} has {}: limits use the clock of Redis while it is available, and this host's otherwise",
                       where, clock_text(facts.clock_ahead)));
    }
  }

  void describe(const std::string& where, const RedisFacts& facts) {
    line(fmt::format("{}: round trip {}, {}, maxmemory-policy {}", where, precise(facts.round_trip),
                     clock_text(facts.clock_ahead), facts.info.eviction_policy));
  }

  // The first server that answers decides whether this is a cluster.
  void inspect_servers() {
    std::vector<std::string> silent;
    for (const store::redis::Url& url : redis_.urls) {
      const auto cluster = cluster_by(url.endpoint);
      if (!cluster) {
        silent.push_back(cluster.error().message());
        continue;
      }
      for (const std::string& why : silent) warn(why);
      return *cluster ? inspect_cluster(**cluster) : inspect_single(url.endpoint);
    }
    for (const std::string& why : silent) fail(why);
  }

  struct Cluster {
    ClusterMap map;
    std::size_t replicas = 0;
  };

  // Returns no value if the server is not part of a cluster.
  Result<std::optional<Cluster>> cluster_by(const net::Endpoint& server) {
    auto probe = open(server_options(redis_, access_, server));
    if (!probe) return tl::unexpected(probe.error());
    Result<std::optional<Cluster>> found;
    const auto sent = (*probe)->send({"CLUSTER", "SLOTS"}, [&](const Reply& reply) {
      if (reply.is(ReplyType::error)) return;
      auto map = ClusterMap::read(reply, server);
      if (!map) {
        found = tl::unexpected(map.error());
      } else {
        found = Cluster{*std::move(map), replicas_in(reply)};
      }
    });
    if (!sent) return tl::unexpected(sent.error());
    return found;
  }

  void inspect_single(const net::Endpoint& endpoint) {
    if (redis_.urls.size() > 1) {
      return fail(
          fmt::format("{}: not part of a cluster, but urls has several; keep one, or add sentinel", endpoint.text()));
    }
    const auto facts = inspect(endpoint);
    if (!facts) return;
    if (facts->info.cluster)
      return fail(endpoint.text() + ": part of a cluster, but the user may not run CLUSTER SLOTS");
    line(fmt::format("Redis {}, a single server with {}", facts->info.version, counted(facts->replicas, "replica")));
    describe(endpoint.text(), *facts);
  }

  void inspect_cluster(const Cluster& cluster) {
    const ClusterMap& map = cluster.map;
    if (redis_.urls.front().database != 0) {
      return fail("a cluster has only database 0; remove the number from urls");
    }
    if (!map.complete()) fail("the cluster has uncovered slots; see redis-cli --cluster check");
    bool has_summary = false;
    for (const net::Endpoint& master : map.masters()) {
      const auto facts = inspect(master);
      if (!facts) continue;
      if (!std::exchange(has_summary, true)) {
        line(fmt::format("Redis {}, a cluster of {} and {}", facts->info.version,
                         counted(map.masters().size(), "master"), counted(cluster.replicas, "replica")));
      }
      describe(master.text(), *facts);
    }
  }

  // Tries all sentinels, to find one that is unavailable before it is needed.
  void inspect_sentinels() {
    std::optional<net::Endpoint> master;
    std::size_t answered = 0;
    std::vector<std::string> wrong;
    for (const store::redis::Url& url : redis_.urls) {
      auto found = master_by(url.endpoint);
      if (!found) {
        wrong.push_back(found.error().message());
        continue;
      }
      ++answered;
      if (master && *master != *found) {
        warn(fmt::format("the sentinels disagree about {}: {} or {}", redis_.sentinel->master, master->text(),
                         found->text()));
      }
      if (!master) master = *std::move(found);
    }
    for (const std::string& why : wrong) master ? warn(why) : fail(why);
    if (!master) return;
    const auto facts = inspect(*master);
    if (!facts) return;
    line(fmt::format("Redis {}, the master {} of {} with {}", facts->info.version, redis_.sentinel->master,
                     counted(answered, "sentinel"), counted(facts->replicas, "replica")));
    describe(master->text(), *facts);
  }

  Result<net::Endpoint> master_by(const net::Endpoint& sentinel) {
    auto probe = open(sentinel_options(redis_, access_, sentinel));
    if (!probe) return tl::unexpected(probe.error());
    Result<net::Endpoint> found;
    const std::string& name = redis_.sentinel->master;
    auto sent = (*probe)->send({"SENTINEL", "get-master-addr-by-name", name}, [&](const Reply& reply) {
      found = store::redis::read_master_address(reply, name, sentinel);
    });
    if (!sent) return tl::unexpected(sent.error());
    return found;
  }

  net::Loop& loop_;
  const RedisConfig& redis_;
  const StoreAccess& access_;
  CheckReport& report_;
  const steady_clock::time_point deadline_ = steady_clock::now() + all_timeout;
};

}  // namespace

void check_store(const RedisConfig& redis, CheckReport& report) {
  const auto note = [&](const Error& error) { report.errors.push_back("store.redis: " + error.message()); };
  const auto access = open_store_access(redis);
  if (!access) return note(access.error());
  auto loops = net::Loops::make(1);
  if (!loops) return note(loops.error());
  if (const auto started = (*loops)->start(); !started) return note(started.error());
  StoreInspection((**loops)[0], redis, *access, report).run();
  (*loops)->stop();
}

}  // namespace weir::server
