// The interface through which the admin frontend reads and controls the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/admin/feed.h"
#include "frontend/admin/reports.h"
#include "match/descriptors.h"
#include "observe/log_line.h"
#include "observe/notices.h"
#include "observe/recent_traffic.h"
#include "observe/top_denied.h"
#include "overrides/service.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::frontend {

struct AdminStatus {
  struct Policy {
    std::string file{};    // empty: the built-in policy
    std::string digest{};  // Ruleset::digest
    Instant loaded_at{};
    std::size_t limits = 0;
  };

  using Reload = LastReload;

  struct Listener {
    std::string name{};                 // http, rls, resp, admin
    std::vector<std::string> listen{};  // bound addresses
    std::uint64_t connections = 0;      // open now
  };

  struct Memory {
    std::uint64_t used = 0;  // bytes
    std::uint64_t budget = 0;
  };

  // Lets a client verify that it uses the same state directory and hash key as the server.
  struct State {
    std::string directory{};    // empty: no state directory
    std::string hash_key_id{};  // the hash of the empty text with the log's key
  };

  struct Snapshot {
    Instant at{};
    std::string error{};  // empty: success
  };

  // Compares the decisions of a candidate with those of its live limit.
  struct Candidate {
    std::string limit{};
    std::uint64_t agreed = 0;
    std::uint64_t newly_denied = 0;
    std::uint64_t newly_admitted = 0;
  };

  // The store shared by the nodes.
  struct Store {
    std::string kind{};                          // redis
    std::vector<std::string> urls{};             // without passwords
    std::uint64_t servers = 0;                   // one, or the masters of a cluster
    std::uint64_t connected = 0;                 // connected servers
    std::string breaker{};                       // closed, half_open or open: the worst of all servers
    std::optional<Instant> unavailable_since{};  // none: every breaker is closed
    std::optional<Instant> failed_at{};          // time of the latest error; none if there was none since startup
    std::string error{};
    std::string holder{};  // this node's name as a holder of slices; empty: it leases none

    // Published by each node, including this one.
    struct Heartbeat {
      std::string name{};
      std::string version{};
      std::string policy{};  // digest
      Duration last_seen_ago{};
      bool is_self = false;
      bool differs = false;  // true if its policy differs from this node's
    };
    std::uint64_t nodes = 1;              // sharing the store
    std::vector<Heartbeat> heartbeats{};  // empty before the store's first answer
  };

  std::string version{};
  State state{};
  observe::RecentTraffic::Summary traffic{};
  Instant started_at{};
  Policy policy{};
  std::optional<Reload> last_reload{};  // none since startup
  std::vector<Listener> listeners{};
  Memory memory{};
  std::optional<Store> store{};             // none: state is local to this process
  std::optional<Snapshot> last_snapshot{};  // none since startup
  std::vector<Candidate> candidates{};
};

// Called on the loops' threads, concurrently. All calls but reload(), policy(), limits() and overrides() answer before
// they return and must be fast.
class AdminBackend {
 public:
  AdminBackend() = default;
  AdminBackend(const AdminBackend&) = delete;
  AdminBackend& operator=(const AdminBackend&) = delete;
  virtual ~AdminBackend() = default;

  // Returns the metrics in Prometheus's text format.
  [[nodiscard]] virtual std::string metrics() = 0;

  [[nodiscard]] virtual AdminStatus status() = 0;

  // Returns at most `max` consumers, the most denied first.
  [[nodiscard]] virtual std::vector<observe::DeniedConsumer> top_denied(std::size_t max) = 0;

  // The result of a successful reload.
  struct Reload {
    std::string digest{};          // digest of the new active policy
    std::string restart_needed{};  // settings that require a restart: `listeners.http, log`; empty: none
  };

  // Reloads the configuration. `done` is called once, on any thread, immediately or later; an error means that nothing
  // changed. It is not called after the loops have stopped.
  using Reloaded = std::function<void(Result<Reload>)>;
  virtual void reload(Reloaded done) = 0;

  // Reports the active policy and the one on disk, which is read now. Calls `done` like reload(); it fails only if the
  // server is shutting down.
  using PolicyRead = std::function<void(Result<PolicyReport>)>;
  virtual void policy(PolicyRead done) = 0;

  // Calls `done` like policy(). Asynchronous because the estimates of a thousand limits take too long for a loop.
  using LimitsRead = std::function<void(Result<LimitsReport>)>;
  virtual void limits(const LimitsQuery& query, LimitsRead done) = 0;

  // Answers a request about overrides or blocks. Calls `done` like policy().
  using OverridesAnswered = std::function<void(Result<overrides::Answer>)>;
  virtual void overrides(const overrides::ServiceRequest& request, OverridesAnswered done) = 0;
  // Returns the id of an override or a block; empty if it is gone.
  [[nodiscard]] virtual std::string exception_id(match::ExceptionNumber number) = 0;

  // The messages of GET /v1/stream.
  [[nodiscard]] virtual Feed& feed() = 0;
  // Includes the counts of one limit unless the name is empty.
  [[nodiscard]] virtual HistoryReport history(std::string_view limit) = 0;
  // Returns at most `max` events, the newest first.
  [[nodiscard]] virtual std::vector<observe::Notice> notices(std::size_t max) = 0;
  // None without a shared store.
  [[nodiscard]] virtual std::optional<StoreReport> store_report() = 0;

  // Returns the name of a consumer, given its key, or of a descriptor in the log.
  [[nodiscard]] virtual std::string consumer_name(std::string_view key) = 0;
  [[nodiscard]] virtual std::string consumer_name(std::span<const DescriptorEntry> entries) = 0;
  // Reports an attempted write operation for the log and the events.
  virtual void changed(const observe::MadeChange& change) = 0;
};

}  // namespace weir::frontend
