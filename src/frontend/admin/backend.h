// What operators can learn of the server and have it do beyond single consumers: given by whoever runs the frontends.
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
#include "weir/result.h"
#include "weir/time.h"

namespace weir::frontend {

struct AdminStatus {
  struct Policy {
    std::string file{};    // empty: the one that is built in
    std::string digest{};  // of Ruleset
    Instant loaded_at{};
    std::size_t limits = 0;
  };

  using Reload = LastReload;

  struct Listener {
    std::string name{};                 // http, rls, resp, admin
    std::vector<std::string> listen{};  // addresses, as they were bound
    std::uint64_t connections = 0;      // open now
  };

  struct Memory {
    std::uint64_t used = 0;  // bytes
    std::uint64_t budget = 0;
  };

  // Where the server keeps its secrets, so that a client can tell whether it has the same.
  struct State {
    std::string directory{};    // empty: there is none
    std::string hash_key_id{};  // what the log's key makes of the empty text
  };

  struct Snapshot {
    Instant at{};
    std::string error{};  // empty: it is whole
  };

  // How a candidate would have decided what its live limit decided.
  struct Candidate {
    std::string limit{};
    std::uint64_t agreed = 0;
    std::uint64_t newly_denied = 0;
    std::uint64_t newly_admitted = 0;
  };

  // A store that nodes share.
  struct Store {
    std::string kind{};                          // redis
    std::vector<std::string> urls{};             // without passwords
    std::uint64_t servers = 0;                   // that decide: one, or the masters of a cluster
    std::uint64_t connected = 0;                 // of these
    std::string breaker{};                       // closed, half_open, open: of the worst
    std::optional<Instant> unavailable_since{};  // none: every breaker is closed
    std::optional<Instant> failed_at{};          // the latest error; none since the start
    std::string error{};
    std::string holder{};  // of slices of leased limits: this node, as others see it; empty: it leases nothing

    // Of each node that counts, this one too, as it said itself.
    struct Heartbeat {
      std::string name{};
      std::string version{};
      std::string policy{};  // its digest
      Duration last_seen_ago{};
      bool is_self = false;
      bool differs = false;  // in its policy, from this one
    };
    std::uint64_t nodes = 1;              // that share it
    std::vector<Heartbeat> heartbeats{};  // none before the first answer
  };

  std::string version{};
  State state{};
  observe::RecentTraffic::Summary traffic{};
  Instant started_at{};
  Policy policy{};
  std::optional<Reload> last_reload{};  // none since the start
  std::vector<Listener> listeners{};
  Memory memory{};
  std::optional<Store> store{};             // none: states are in this process
  std::optional<Snapshot> last_snapshot{};  // none since the start
  std::vector<Candidate> candidates{};
};

// Called on any loop's thread, by several at once. All but reload(), policy() and limits() answer before they return,
// so they are quick.
class AdminBackend {
 public:
  AdminBackend() = default;
  AdminBackend(const AdminBackend&) = delete;
  AdminBackend& operator=(const AdminBackend&) = delete;
  virtual ~AdminBackend() = default;

  // A page in Prometheus's text format.
  [[nodiscard]] virtual std::string metrics() = 0;

  [[nodiscard]] virtual AdminStatus status() = 0;

  // The most denied first, `most` at most.
  [[nodiscard]] virtual std::vector<observe::DeniedConsumer> top_denied(std::size_t most) = 0;

  // What came of a reload that took effect.
  struct Reload {
    std::string digest{};          // of the policy that is in force now
    std::string restart_needed{};  // for what: `listeners.http, log`; empty: for nothing
  };

  // Reads the files again. `done` is called once, on any thread, at once or later: with what came of it, or with why
  // nothing has changed. Not after the loops are gone.
  using Reloaded = std::function<void(Result<Reload>)>;
  virtual void reload(Reloaded done) = 0;

  // The policy that is in force, and the one on disk, which is read for it. `done` as for a reload; an error only if
  // the server is about to stop.
  using PolicyRead = std::function<void(Result<PolicyReport>)>;
  virtual void policy(PolicyRead done) = 0;

  // Likewise: the estimates of a thousand limits take a while, for which no loop should wait.
  using LimitsRead = std::function<void(Result<LimitsReport>)>;
  virtual void limits(const LimitsAsked& asked, LimitsRead done) = 0;

  // What GET /v1/stream sends.
  [[nodiscard]] virtual Feed& feed() = 0;
  // With the seconds of one limit, unless the name is empty.
  [[nodiscard]] virtual HistoryReport history(std::string_view limit) = 0;
  // The newest first, `most` at most.
  [[nodiscard]] virtual std::vector<observe::Notice> notices(std::size_t most) = 0;
  // None: all states are this process's own.
  [[nodiscard]] virtual std::optional<StoreReport> store_report() = 0;

  // What the log calls a consumer, by its key, or a descriptor.
  [[nodiscard]] virtual std::string consumer_name(std::string_view key) = 0;
  [[nodiscard]] virtual std::string consumer_name(std::span<const DescriptorEntry> entries) = 0;
  // An operator changed something, or tried to: for the log and the events.
  virtual void changed(const observe::MadeChange& change) = 0;
};

}  // namespace weir::frontend
