// One process: an engine, loops with a worker on each, listeners in front of them; reloads and snapshots.
//
//   auto server = Server::start(sources, loaded, version);   // it serves, as soon as its store is connected
//   (*server)->reload();                                      // from one thread, like all that is not said otherwise
//   (*server)->stop();
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "frontend/admin/backend.h"
#include "frontend/frontend.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/tls_context.h"
#include "observe/consumer_names.h"
#include "observe/decision_log.h"
#include "observe/log_writer.h"
#include "observe/metrics_page.h"
#include "observe/recent_traffic.h"
#include "server/config.h"
#include "server/every_second.h"
#include "server/example_request.h"
#include "server/live.h"
#include "server/log.h"
#include "server/node_count_file.h"
#include "server/protocols.h"
#include "server/shared_limits.h"
#include "server/shared_nodes.h"
#include "server/sources.h"
#include "server/worker.h"
#include "store/store_counts.h"
#include "weir/clock.h"
#include "weir/result.h"

namespace weir::server {

class Server final : private frontend::AdminBackend {
 public:
  // `loaded` is complete.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Sources sources, Loaded loaded, std::string version);
  ~Server() override;

  // Reads the files again. On an error nothing has changed; it is in the log, the metrics and the status.
  Result<Reload> reload();

  // Whether a file is another than when it was read; true once for each change.
  [[nodiscard]] bool files_changed() { return watch_.changed(); }

  // Does what administrators asked for since, and answers them.
  void answer_requests();
  // Called, from any thread, when there is something for answer_requests, or is_ready is true.
  void on_request(std::function<void()> wake);

  // Whether requests are decided: from when the store is connected, or startup_timeout has passed, until it stops.
  [[nodiscard]] bool is_ready() const noexcept { return health_.serving(); }

  // Once a second or so.
  void tick();
  void save();

  // From now on the server says that it is not ready; it still serves.
  void announce_stop();
  // Stops accepting, finishes what is in flight, saves. Final.
  void stop();

  // Where each frontend listens: `http`, `127.0.0.1:8080`.
  struct Place {
    std::string_view listener;
    net::Address address;
    bool tls;
  };
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] std::optional<ExampleRequest> example() const {
    return example_request(engine_->bindings()->matcher());
  }
  [[nodiscard]] Log& log() noexcept { return *log_; }

 private:
  // Of one frontend.
  struct OpenListener {
    const Protocol* protocol;
    std::shared_ptr<net::TlsContext> tls;  // null: plain
    std::vector<std::unique_ptr<net::Listener>> sockets;
  };

  Server(Sources sources, Loaded loaded, std::string version);

  // Steps of the start, in order.
  Result<void> open_log();
  Result<void> open_state();
  Result<void> open_own_receipt_key();
  void drop_unusable_directory();
  Result<void> restore_states();
  Result<void> open_workers();
  Result<void> open_listeners();

  Result<void> open_listener(std::size_t protocol);
  // The keys of receipts that weir.yaml names; else this node's own, where it shares no store.
  [[nodiscard]] Result<std::vector<frontend::ReceiptKey>> receipt_keys(const Config& config) const;
  // Reads the tokens and keys. A frontend whose listener is not in the configuration stays as it is.
  [[nodiscard]] Result<WorkerOptions> worker_options(const Config& config) const;
  void log_policy();
  void log_warnings(const std::vector<text::Problem>& problems);
  // What needs a restart; empty: nothing.
  Result<std::string> apply(Loaded loaded);
  void tell_reload(Instant now, const Result<std::string>& outcome);
  void refuse_requests();

  [[nodiscard]] std::filesystem::path states_path() const;

  [[nodiscard]] observe::TrafficTotals traffic_totals(const engine::Engine::Tally& tally) const;
  void append_store_metrics(observe::MetricsPage& page) const;
  void on_loop_connected();
  void leave_store();
  void open_nodes();
  void set_nodes(std::uint32_t nodes);
  void keep_node_count();
  [[nodiscard]] frontend::AdminStatus::Store store_status() const;

  // AdminBackend, from the loops.
  [[nodiscard]] std::string metrics() override;
  [[nodiscard]] frontend::AdminStatus status() override;
  [[nodiscard]] std::vector<observe::DeniedConsumer> top_denied(std::size_t most) override;
  void reload(Reloaded done) override;
  void policy(PolicyRead done) override;
  [[nodiscard]] frontend::Feed& feed() override { return live_->feed(); }
  [[nodiscard]] frontend::HistoryReport history(std::string_view limit) override;
  [[nodiscard]] std::vector<observe::Notice> notices(std::size_t most) override {
    return live_->notices().newest(most);
  }
  void limits(const frontend::LimitsAsked& asked, LimitsRead done) override;
  [[nodiscard]] std::optional<frontend::StoreReport> store_report() override;
  [[nodiscard]] std::string consumer_name(std::string_view key) override;
  [[nodiscard]] std::string consumer_name(std::span<const DescriptorEntry> entries) override;
  void changed(const observe::MadeChange& change) override { live_->changed(clock_.now(), change); }

  // Once a second, on a thread of its own: what the counters say, for the page.
  void sample();
  [[nodiscard]] observe::Gauges gauges() const;
  [[nodiscard]] std::vector<const observe::TopDenied*> denied_of_loops() const;
  [[nodiscard]] std::map<std::string, std::uint64_t> overflowed_by_limit() const;
  void add_states(const engine::Bindings& bindings, Instant now, frontend::LimitsReport& report) const;
  // The limits of the policy in force are watched for bursts.
  void watch_limits();
  [[nodiscard]] frontend::PolicyReport policy_report();
  [[nodiscard]] frontend::LimitsReport limits_report(const frontend::LimitsAsked& asked);
  // Done by answer_requests(); `refused` instead if the server is about to stop.
  void do_later(std::function<void()> work, std::function<void()> refused);

  const Sources sources_;
  const std::string version_;
  Config config_;
  const Config began_with_;
  FileWatch watch_;
  std::shared_ptr<const policy::Ruleset> first_ruleset_;  // until the engine has it
  WallClock clock_;
  const Instant started_;
  frontend::Health health_;

  std::unique_ptr<observe::LogWriter> writer_;
  std::optional<Log> log_;
  std::optional<observe::ConsumerNames> names_;
  std::optional<observe::DecisionLog> decisions_;
  std::optional<Live> live_;
  std::string admin_token_;
  std::vector<frontend::ReceiptKey> own_receipt_keys_;  // none where a store is shared
  std::optional<SharedLimits> shared_limits_;           // none: all states are this process's own
  std::shared_ptr<store::SliceHolder> slice_holder_;    // null there, as is the next
  std::unique_ptr<SharedNodes> nodes_;
  std::optional<NodeCountFile> node_count_file_;
  std::unique_ptr<engine::Engine> engine_;
  std::vector<std::unique_ptr<Protocol>> protocols_;               // those that are on
  std::vector<std::unique_ptr<store::StoreCounts>> store_counts_;  // one for each loop; none: states are here
  std::atomic<std::size_t> connecting_loops_ = 0;                  // on which requests wait for the store
  std::unique_ptr<net::Loops> loops_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one for each loop
  std::vector<OpenListener> listeners_;

  mutable std::mutex mutex_;  // guards what follows
  struct Reloads {
    std::uint64_t applied = 0;
    std::uint64_t refused = 0;
    std::optional<frontend::AdminStatus::Reload> last;
    std::optional<frontend::PolicyReport::Refused> last_rejected;
    Instant loaded_at{};  // the policy in force
    std::string policy_file;
    std::string policy_origin;
    std::vector<text::Problem> problems;  // of the files when it was loaded
  } reloads_;
  std::optional<frontend::AdminStatus::Snapshot> last_saved_;
  observe::RecentTraffic traffic_{started_};
  std::vector<Reloaded> waiting_;  // for a reload
  struct Later {
    std::function<void()> work;
    std::function<void()> refused;
  };
  std::vector<Later> later_;
  std::function<void()> wake_;
  bool stopping_ = false;

  // The policy on disk when it was last asked for; of the thread that answers.
  struct DiskPolicy {
    frontend::PolicyReport::OnDisk read;
    FileWatch watch;
    std::string compared_with;  // the digest of the one that was in force
  };
  std::optional<DiskPolicy> disk_policy_;
  std::uint64_t overflowed_ = 0;  // when it was last sampled; of the thread that samples
  EverySecond sampling_;          // stops before all else goes
};

}  // namespace weir::server
