// The server: an engine, event loops with one worker each, listeners, reloads and snapshots. Not thread-safe unless
// noted.
//
//   auto server = Server::start(sources, loaded, version);   // serves once its store is connected
//   (*server)->reload();
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
#include "overrides/service.h"
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
  // `loaded` must be complete.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Sources sources, Loaded loaded, std::string version);
  ~Server() override;

  // Reads the files again. An error changes nothing; the log, the metrics and the status report it.
  Result<Reload> reload();

  // True if a file has changed since it was read. Returns true once per change.
  [[nodiscard]] bool files_changed() { return watch_.changed(); }

  // Performs pending admin requests and answers them.
  void answer_requests();
  // Sets the function that is called, on any thread, when a request is pending or is_ready() became true.
  void on_request(std::function<void()> wake);

  // True while the server is ready: once the store is connected or startup_timeout has passed, and until it stops.
  [[nodiscard]] bool is_ready() const noexcept { return health_.serving(); }

  // Must be called about once per second.
  void tick();
  void save();

  // Reports that the server is not ready from now on. It still serves requests.
  void announce_stop();
  // Stops accepting, finishes requests in flight, and saves. The server cannot be restarted.
  void stop();

  // The addresses of the listeners: `http`, `127.0.0.1:8080`.
  struct BoundAddress {
    std::string_view listener;
    net::Address address;
    bool tls;
  };
  [[nodiscard]] std::vector<BoundAddress> bound_addresses() const;
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] std::optional<ExampleRequest> example() const {
    return example_request(engine_->bindings()->matcher());
  }
  [[nodiscard]] Log& log() noexcept { return *log_; }

 private:
  // The sockets of one protocol.
  struct OpenListener {
    const Protocol* protocol;
    std::shared_ptr<net::TlsContext> tls;  // null: plain
    std::vector<std::unique_ptr<net::Listener>> sockets;
  };

  Server(Sources sources, Loaded loaded, std::string version);

  // The steps of start(), in order.
  Result<void> open_log();
  Result<void> open_state();
  Result<void> open_own_receipt_key();
  void drop_unusable_directory();
  Result<void> restore_states();
  Result<void> open_overrides();
  Result<void> open_workers();
  Result<void> open_listeners();

  Result<void> open_listener(std::size_t protocol);
  // Returns the receipt keys of weir.yaml, or else this node's own key if its store is not shared.
  [[nodiscard]] Result<std::vector<frontend::ReceiptKey>> receipt_keys(const Config& config) const;
  // Reads the tokens and keys. A frontend whose listener is off in `config` keeps its options.
  [[nodiscard]] Result<WorkerOptions> worker_options(const Config& config) const;
  void log_policy();
  void log_warnings(const std::vector<text::Problem>& problems);
  // Returns the changes that require a restart, or an empty text.
  Result<std::string> apply(Loaded loaded);
  void report_reload(Instant now, const Result<std::string>& outcome);
  void reject_requests();

  [[nodiscard]] std::filesystem::path states_path() const;

  [[nodiscard]] observe::TrafficTotals traffic_totals(const engine::Engine::Totals& of_engine) const;
  void append_store_metrics(observe::MetricsPage& page) const;
  void append_override_metrics(observe::MetricsPage& page) const;
  void on_loop_connected();
  void leave_store();
  void open_nodes();
  void set_nodes(std::uint32_t nodes);
  void save_node_count();
  [[nodiscard]] frontend::AdminStatus::Store store_status() const;

  // These implement AdminBackend and are called on the loops.
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
  void limits(const frontend::LimitsQuery& query, LimitsRead done) override;
  void overrides(const overrides::ServiceRequest& request, OverridesAnswered done) override;
  [[nodiscard]] std::string exception_id(match::ExceptionNumber number) override { return overrides_->id_of(number); }
  [[nodiscard]] std::optional<frontend::StoreReport> store_report() override;
  [[nodiscard]] std::string consumer_name(std::string_view key) override;
  [[nodiscard]] std::string consumer_name(std::span<const DescriptorEntry> entries) override;
  void changed(const observe::MadeChange& change) override { live_->changed(clock_.now(), change); }

  // Samples the counters once per second, on its own thread.
  void sample();
  [[nodiscard]] observe::Gauges gauges() const;
  [[nodiscard]] std::vector<const observe::TopDenied*> denied_of_loops() const;
  [[nodiscard]] std::map<std::string, std::uint64_t> overflowed_by_limit() const;
  void add_states(const engine::Bindings& bindings, Instant now, frontend::LimitsReport& report) const;
  // Watches the limits of the active policy for spikes.
  void watch_limits();
  [[nodiscard]] frontend::PolicyReport policy_report();
  [[nodiscard]] frontend::LimitsReport limits_report(const frontend::LimitsQuery& query);
  // answer_requests() calls `work`. If the server is stopping, `reject` is called instead.
  void do_later(std::function<void()> work, std::function<void()> reject);

  const Sources sources_;
  const std::string version_;
  Config config_;
  const Config initial_config_;
  FileWatch watch_;
  std::shared_ptr<const policy::Ruleset> initial_ruleset_;  // null once the engine has it
  WallClock clock_;
  const Instant started_;
  frontend::Health health_;

  std::unique_ptr<observe::LogWriter> writer_;
  std::optional<Log> log_;
  std::optional<observe::ConsumerNames> names_;
  std::optional<observe::DecisionLog> decisions_;
  std::optional<Live> live_;
  std::vector<frontend::NamedToken> admin_tokens_;
  std::vector<frontend::ReceiptKey> own_receipt_keys_;  // empty if the store is shared
  std::optional<SharedLimits> shared_limits_;           // none: the store is local
  std::shared_ptr<store::SliceHolder> slice_holder_;    // this and the next are null if the store is local
  std::unique_ptr<SharedNodes> nodes_;
  std::optional<NodeCountFile> node_count_file_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<overrides::Service> overrides_;
  std::vector<std::unique_ptr<Protocol>> protocols_;               // protocols of the enabled listeners
  std::vector<std::unique_ptr<store::StoreCounts>> store_counts_;  // one per loop; empty if the store is local
  std::atomic<std::size_t> connecting_loops_ = 0;                  // loops on which requests wait for the store
  std::unique_ptr<net::Loops> loops_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one per loop
  std::vector<OpenListener> listeners_;

  mutable std::mutex mutex_;  // guards the members below
  struct Reloads {
    std::uint64_t applied = 0;
    std::uint64_t rejected = 0;
    std::optional<frontend::AdminStatus::Reload> last;
    std::optional<frontend::PolicyReport::Rejected> last_rejected;
    Instant loaded_at{};  // when the active policy was loaded
    std::string policy_file;
    std::string policy_origin;
    std::vector<text::Problem> problems;  // problems in the active policy's files
  } reloads_;
  std::optional<frontend::AdminStatus::Snapshot> last_saved_;
  observe::RecentTraffic traffic_{started_};
  std::vector<Reloaded> waiting_;  // callers that wait for a reload
  struct Later {
    std::function<void()> work;
    std::function<void()> reject;
  };
  std::vector<Later> later_;
  std::function<void()> wake_;
  bool stopping_ = false;

  // The policy on disk at the last request for it. Used only by the thread that calls answer_requests().
  struct DiskPolicy {
    frontend::PolicyReport::OnDisk read;
    FileWatch watch;
    std::string compared_with;  // digest of the policy that was active then
  };
  std::optional<DiskPolicy> disk_policy_;
  std::uint64_t overflowed_ = 0;  // the total at the last sample; used only by the sampling thread
  EverySecond sampling_;          // destroyed first: it uses the other members
};

}  // namespace weir::server
