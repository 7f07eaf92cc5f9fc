#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "observe/consumer_names.h"
#include "policy/words.h"
#include "server/secrets.h"
#include "table/hash_key.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

constexpr auto states_folder = "states";

observe::DecisionLog::Options decision_options(const DenialLogConfig& config) {
  return {.sampling = {config.sample.part, config.sample.whole},
          .lines_per_second = static_cast<std::uint32_t>(config.per_second)};
}

std::size_t loop_count(const Config& config) noexcept {
  return config.loops.value_or(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

Server::Server(Sources sources, Loaded loaded, std::string version)
    : sources_(std::move(sources)),
      version_(std::move(version)),
      config_(std::move(*loaded.config)),
      initial_config_(config_),
      watch_(std::move(loaded.watch)),
      initial_ruleset_(std::move(loaded.ruleset)),
      started_(clock_.now()),
      protocols_(make_protocols(config_)) {
  reloads_.loaded_at = started_;
  reloads_.policy_file = config_.policy.value_or(fs::path()).string();
  reloads_.policy_origin = config_.policy_origin;
  reloads_.problems = std::move(loaded.problems);
}

Server::~Server() {
  sampling_.stop();
  listeners_.clear();
  if (loops_) loops_->stop();
}

Result<std::unique_ptr<Server>> Server::start(Sources sources, Loaded loaded, std::string version) {
  const std::vector<text::Problem> problems = loaded.problems;
  std::unique_ptr<Server> server(new Server(std::move(sources), std::move(loaded), std::move(version)));
  for (const auto step : {&Server::open_log, &Server::open_state, &Server::open_workers, &Server::open_listeners}) {
    if (const auto done = (*server.*step)(); !done) return tl::unexpected(done.error());
  }
  server->log_warnings(problems);
  server->log_policy();
  if (const auto started = server->loops_->start(); !started) return tl::unexpected(started.error());
  server->live_->note({.message = "weir " + server->version_ + " started", .at = server->started_});
  server->watch_limits();
  server->sampling_.start([raw = server.get()] { raw->sample(); });
  return server;
}

Result<void> Server::open_log() {
  auto writer = observe::LogWriter::start({.path = config_.log.file.value_or(fs::path()).string()});
  if (!writer) return tl::unexpected(writer.error());
  writer_ = std::move(*writer);
  log_.emplace(*writer_, clock_, config_.log.level);
  live_.emplace(started_, *writer_, initial_config_.state.memory);
  return {};
}

// Opens the secrets and restores the states.
Result<void> Server::open_state() {
  table::HashKey log_key = table::HashKey::random();
  drop_unusable_directory();
  const fs::path& directory = config_.state.directory;
  if (!directory.empty()) {
    auto tokens = open_admin_tokens(directory);
    if (!tokens) return tl::unexpected(tokens.error());
    admin_tokens_ = std::move(*tokens);
  }
  if (!directory.empty() || config_.log.hash_key_file) {
    const auto key =
        observe::open_hash_key(config_.log.hash_key_file.value_or(directory / observe::hash_key_file).string());
    if (!key) return tl::unexpected(key.error());
    log_key = *key;
  }
  if (auto opened = open_own_receipt_key(); !opened) return opened;
  names_.emplace(log_key);
  if (config_.log.denials) decisions_.emplace(*writer_, decision_options(*config_.log.denials));
  return restore_states();
}

// A state directory that already has an admin token may be read-only; the receipt key is then not stored.
Result<void> Server::open_own_receipt_key() {
  if (config_.store.redis) return {};
  const fs::path& directory = config_.state.directory;
  if (!directory.empty()) {
    std::error_code error;
    auto keys = open_receipt_key(directory);
    if (keys) own_receipt_keys_ = std::move(*keys);
    if (keys || fs::exists(directory / receipt_key_file, error))
      return keys ? Result<void>() : tl::unexpected(keys.error());
    log_->warning("receipts will not survive a restart: " + keys.error().message());
  }
  auto key = new_receipt_key();
  if (!key) return tl::unexpected(key.error());
  own_receipt_keys_.assign(1, *key);
  return {};
}

Result<std::vector<frontend::ReceiptKey>> Server::receipt_keys(const Config& config) const {
  if (config.receipts.key_file) return read_receipt_keys(*config.receipts.key_file);
  return own_receipt_keys_;
}

// In a container the home directory may be missing or read-only, and the server then runs without a state directory. A
// directory that weir.yaml names, or that snapshots need, must be usable.
void Server::drop_unusable_directory() {
  StateConfig& state = config_.state;
  if (state.is_named || state.snapshot_every) return;
  std::string why = "STATE_DIRECTORY, XDG_STATE_HOME and HOME are unset or relative; set state.directory in weir.yaml";
  if (!state.directory.empty()) {
    const auto prepared = prepare_state_directory(state.directory);
    if (prepared) return;
    why = prepared.error().message();
    state.directory.clear();
  }
  log_->warning(
      "no usable state directory: snapshots and the admin API's write operations are disabled, receipts will not "
      "survive a restart, and consumer hashes in the log change with each restart: " +
      why);
}

Result<void> Server::restore_states() {
  if (const auto& redis = config_.store.redis) {
    auto shared = open_shared_limits(*redis, std::make_shared<StoreLog>(*log_));
    if (!shared) return failure("store", shared.error().message());
    shared_limits_ = std::move(*shared);
    slice_holder_ = store::SliceHolder::random();
    node_count_file_.emplace(config_.state.directory);
    slice_holder_->nodes.store(node_count_file_->saved().value_or(static_cast<std::uint32_t>(redis->nodes)),
                               std::memory_order_relaxed);
  }
  const std::uint64_t max_new_keys = config_.store.redis ? config_.store.redis->max_new_keys : 0;
  const engine::Engine::Options options{
      .memory_budget = policy_memory(config_),
      .hash_key = table::HashKey::random(),
      .shared_keys = shared_limits_ ? shared_limits_->keys : nullptr,
      .slice_holder = slice_holder_,
      .known_keys = max_new_keys == 0 ? nullptr : std::make_shared<store::KnownKeys>(),
      .max_new_keys = max_new_keys};
  if (!config_.state.snapshot_every) {
    auto engine = engine::Engine::create(std::exchange(initial_ruleset_, nullptr), options);
    if (!engine) return tl::unexpected(engine.error());
    engine_ = std::move(*engine);
  } else {
    auto restored =
        engine::Engine::restore(std::exchange(initial_ruleset_, nullptr), options, states_path(), clock_.now());
    if (!restored) return tl::unexpected(restored.error());
    engine_ = std::move(restored->engine);
    for (const Error& problem : restored->problems) log_->warning(problem.message());
    if (!restored->names.empty()) {
      log_->info("restored " + std::to_string(restored->names.size()) + " tables from the snapshot");
    }
  }
  const Protocol::StateOptions state{.memory = config_.state.memory,
                                     .folder = config_.state.snapshot_every ? states_path() : fs::path(),
                                     .hash_key = engine_->hash_key(),
                                     .now = clock_.now()};
  for (const auto& protocol : protocols_) {
    if (auto opened = protocol->open_state(state, *log_); !opened) return opened;
  }
  return open_overrides();
}

// Each node has its own overrides, whatever its store. A state directory that has an admin token may be read-only: then
// there are none.
Result<void> Server::open_overrides() {
  const auto report = [this](const overrides::Notice& notice) {
    const overrides::Change& change = notice.change;
    live_->changed(change.at,
                   {.what = std::string(name_of(change.action)) + " " + std::string(name_of(change.record.kind)),
                    .limit = change.record.limit,
                    .consumer = notice.key.empty() ? std::string() : consumer_name(notice.key),
                    .outcome = "done",
                    .id = change.record.id,
                    .by = change.by});
  };
  const fs::path& directory = config_.state.directory;
  auto service = overrides::Service::open(*engine_, clock_, {.directory = directory, .on_change = report});
  std::error_code error;
  const bool is_disabled = !service && !fs::exists(directory / overrides::change_log_file, error);
  if (is_disabled) {
    log_->warning("overrides and blocks are disabled: " + service.error().message());
    service = overrides::Service::open(*engine_, clock_, {});
  }
  if (!service) return tl::unexpected(service.error());
  overrides_ = std::move(*service);
  return {};
}

fs::path Server::states_path() const {
  return config_.state.directory / states_folder;
}

Result<WorkerOptions> Server::worker_options(const Config& config) const {
  auto keys = receipt_keys(config);
  if (!keys) return tl::unexpected(keys.error());
  WorkerOptions options{.settings = {config.fields.choice, config.fields.retry_jitter},
                        .receipt_keys = std::move(*keys),
                        .frontends = {}};
  for (const auto& protocol : protocols_) {
    auto& own = options.frontends.emplace_back();
    const ListenerConfig* const listener = config.listener(protocol->name());
    if (listener == nullptr) continue;
    auto read = frontend_options(*listener, admin_tokens_, loops_->size());
    if (!read) return tl::unexpected(read.error());
    own = *std::move(read);
  }
  return options;
}

Result<void> Server::open_workers() {
  const std::size_t count = loop_count(config_);
  auto loops = net::Loops::make(count);
  if (!loops) return tl::unexpected(loops.error());
  loops_ = std::move(*loops);
  const auto options = worker_options(config_);
  if (!options) return tl::unexpected(options.error());
  if (shared_limits_) open_nodes();
  const WorkerContext context{.engine = *engine_,
                              .clock = clock_,
                              .health = health_,
                              .names = *names_,
                              .log = decisions_ ? &*decisions_ : nullptr,
                              .backend = *this,
                              .redis = shared_limits_ ? &shared_limits_->options : nullptr,
                              .nodes = nodes_.get(),
                              .node_count = slice_holder_ ? &slice_holder_->nodes : nullptr,
                              .startup_timeout = shared_limits_ ? config_.store.redis->startup_timeout : Duration{},
                              .on_connected = [this] { on_loop_connected(); }};
  if (shared_limits_) {
    connecting_loops_ = count;
    health_.set_connecting();
    if (context.startup_timeout > Duration::zero()) {
      log_->info("connecting to the store: requests wait up to " + policy::duration_text(context.startup_timeout));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (shared_limits_) store_counts_.push_back(std::make_unique<store::StoreCounts>());
    store::StoreCounts* const counts = shared_limits_ ? store_counts_.back().get() : nullptr;
    workers_.push_back(std::make_unique<Worker>(context, protocols_, *options, (*loops_)[i], counts));
  }
  return {};
}

// The last loop wakes the main thread. If wake_ is not set yet, that thread calls is_ready() after setting it.
void Server::on_loop_connected() {
  if (connecting_loops_.fetch_sub(1) > 1) return;
  health_.end_connecting();
  std::unique_lock lock(mutex_);
  const std::function<void()> wake = wake_;
  lock.unlock();
  if (wake) wake();
}

// Until nodes are counted, their number is the last saved count, or else store.redis.nodes.
void Server::open_nodes() {
  const RedisConfig& redis = *initial_config_.store.redis;
  nodes_ = std::make_unique<SharedNodes>(
      redis, slice_holder_->nodes.load(std::memory_order_relaxed),
      SharedNodes::Options{.version = version_,
                           .policy = [this] { return engine_->bindings()->ruleset().digest; },
                           .on_count = [this](std::uint32_t nodes) { set_nodes(nodes); },
                           .log = shared_limits_->options.log});
  set_nodes(nodes_->list().count());
}

// Runs on a loop after startup, so it must be fast.
void Server::set_nodes(std::uint32_t nodes) {
  slice_holder_->nodes.store(nodes, std::memory_order_relaxed);
  const Instant now = clock_.now();
  for (const auto& protocol : protocols_) protocol->set_nodes(nodes, now);
}

Result<void> Server::open_listeners() {
  for (std::size_t i = 0; i < protocols_.size(); ++i) {
    if (auto opened = open_listener(i); !opened) {
      return failure("listeners." + protocols_[i]->name(), opened.error().message());
    }
  }
  return {};
}

Result<void> Server::open_listener(std::size_t protocol) {
  OpenListener open{.protocol = protocols_[protocol].get(), .tls = nullptr, .sockets = {}};
  const ListenerConfig& config = *config_.listener(open.protocol->name());
  if (config.tls) {
    auto tls = net::TlsContext::load(*config.tls, open.protocol->frontends().front()->alpn_protocols());
    if (!tls) return tl::unexpected(tls.error());
    open.tls = std::move(*tls);
  }
  net::ListenOptions options;
  options.max_connections = config.max_connections;
  options.unix_mode = config.unix_mode;
  options.connection = open.protocol->frontends().front()->connection_options();
  const net::MakeSession make = [this, protocol](const net::Peer& peer, const net::Link& link) {
    return workers_[link.loop()->index()]->frontend(protocol).open(peer, link);
  };
  for (const net::Address& address : config.listen) {
    options.tls = address.unix_socket() ? nullptr : open.tls;
    auto socket = net::Listener::open(*loops_, address, options, make);
    if (!socket) return tl::unexpected(socket.error());
    open.sockets.push_back(std::move(*socket));
  }
  listeners_.push_back(std::move(open));
  return {};
}

void Server::log_warnings(const std::vector<text::Problem>& problems) {
  for (const text::Problem& problem : problems) {
    if (problem.severity == text::Severity::warning) log_->warning(problem.text());
  }
}

void Server::log_policy() {
  const auto plan = engine_->bindings();
  for (const std::string& line : policy::ruleset_lines(plan->ruleset())) log_->info("limit " + line);
}

std::vector<Server::BoundAddress> Server::bound_addresses() const {
  std::vector<BoundAddress> addresses;
  for (const OpenListener& listener : listeners_) {
    for (const auto& socket : listener.sockets) {
      const bool is_unix = socket->bound().unix_socket();
      addresses.push_back({listener.protocol->name(), socket->bound(), listener.tls != nullptr && !is_unix});
    }
  }
  return addresses;
}

// Reports a write failure once. The next start without the store then uses store.redis.nodes.
void Server::save_node_count() {
  if (!nodes_ || !node_count_file_ || !nodes_->list().is_counted()) return;
  const auto updated = node_count_file_->update(nodes_->list().count(), std::chrono::steady_clock::now());
  if (updated) return;
  log_->warning("node count will not survive a restart: " + updated.error().message());
  node_count_file_.reset();
}

void Server::tick() {
  save_node_count();
  const Instant now = clock_.now();
  if (decisions_) decisions_->tick(now);
  overrides_->expire();
  if (!traffic_.is_due(now)) return;  // traffic_ is written only by this thread, so no lock is needed to read it
  observe::TrafficTotals totals = traffic_totals(engine_->totals());
  const std::lock_guard guard(mutex_);
  traffic_.add(now, std::move(totals));
}

void Server::save() {
  if (!config_.state.snapshot_every || config_.state.directory.empty()) return;
  const Instant now = clock_.now();
  auto saved = engine_->save(states_path(), now);
  for (const auto& protocol : protocols_) {
    const auto own = protocol->save_state(states_path(), now);
    if (saved) saved = own;
  }
  if (!saved) log_->error("snapshot failed: " + saved.error().message());
  const std::lock_guard guard(mutex_);
  last_saved_ = frontend::AdminStatus::Snapshot{.at = now, .error = saved ? std::string() : saved.error().message()};
}

void Server::announce_stop() {
  health_.set_serving(false);
  log_->info("shutting down in " + policy::duration_text(config_.grace) + ": serving requests, reporting not ready");
}

// Returns slices and leaves the list of nodes, so that other nodes need not wait for either to expire.
void Server::leave_store() {
  if (store_counts_.empty()) return;
  const auto deadline = net::SteadyTime::clock::now() + std::chrono::milliseconds(500);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    (*loops_)[i].run([&] { workers_[i]->leave_store(); });
  }
  const auto are_returned = [&] {
    bool all = true;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      (*loops_)[i].run([&] { all = all && workers_[i]->slices_are_returned(); });
    }
    return all;
  };
  while (!are_returned() && net::SteadyTime::clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Server::stop() {
  sampling_.stop();
  health_.set_serving(false);
  reject_requests();
  log_->info("shutting down: no new connections; finishing requests in flight");
  const auto deadline = net::SteadyTime::clock::now() + config_.drain;
  for (const OpenListener& listener : listeners_) {
    for (const auto& socket : listener.sockets) socket->start_drain();
  }
  std::size_t closed = 0;
  for (const OpenListener& listener : listeners_) {
    for (const auto& socket : listener.sockets) closed += socket->await_drained(deadline);
  }
  if (closed > 0)
    log_->warning("closed " + std::to_string(closed) + (closed == 1 ? " connection" : " connections") +
                  " at the drain deadline");
  listeners_.clear();
  leave_store();
  loops_->stop();
  save();
  log_->info("stopped");
}

}  // namespace weir::server
