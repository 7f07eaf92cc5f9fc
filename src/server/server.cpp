#include "server/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "observe/hash_key_file.h"
#include "policy/roster.h"
#include "policy/words.h"
#include "server/admin_token.h"
#include "server/memory_shares.h"
#include "store/local/snapshot_folder.h"
#include "table/hash_key.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

constexpr auto states_folder = "states";

observe::DecisionLog::Options decision_options(const DenialLogConfig& config) {
  return {.sampling = {config.sample.part, config.sample.whole}, .lines_per_second = config.per_second};
}

// The door's own words about a request that does not end come before the connection is closed for it.
net::ConnectionOptions answering_late_requests(net::ConnectionOptions options) {
  options.timeouts.incomplete += std::chrono::seconds(2);
  return options;
}

// A connection that takes messages of that size.
net::ConnectionOptions holding(std::size_t message) {
  net::ConnectionOptions options;
  options.input_bound = std::max(options.input_bound, message);
  return options;
}

// Whose clients keep connections for when they need them.
net::ConnectionOptions long_lived(net::ConnectionOptions options) {
  options.timeouts.idle = std::chrono::hours(1);
  return options;
}

std::size_t loop_count(const Config& config) noexcept {
  return config.loops.value_or(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

Server::Server(Sources sources, Loaded loaded, std::string version)
    : sources_(std::move(sources)),
      version_(std::move(version)),
      config_(std::move(*loaded.config)),
      began_with_(config_),
      watch_(std::move(loaded.watch)),
      first_ruleset_(std::move(loaded.ruleset)),
      started_(clock_.now()) {
  reloads_.loaded_at = started_;
  reloads_.policy_file = config_.policy.value_or(fs::path()).string();
}

Server::~Server() {
  doors_.clear();
  if (loops_) loops_->stop();
}

Result<std::unique_ptr<Server>> Server::start(Sources sources, Loaded loaded, std::string version) {
  const std::vector<policy::Problem> problems = std::move(loaded.problems);
  std::unique_ptr<Server> server(new Server(std::move(sources), std::move(loaded), std::move(version)));
  for (const auto step : {&Server::open_log, &Server::open_state, &Server::open_stations, &Server::open_doors}) {
    if (const auto done = (*server.*step)(); !done) return tl::unexpected(done.error());
  }
  server->log_warnings(problems);
  server->log_policy();
  if (const auto started = server->loops_->start(); !started) return tl::unexpected(started.error());
  return server;
}

Result<void> Server::open_log() {
  auto writer = observe::LogWriter::start({.path = config_.log.file.value_or(fs::path()).string()});
  if (!writer) return tl::unexpected(writer.error());
  writer_ = std::move(*writer);
  log_.emplace(*writer_, clock_, config_.log.level);
  return {};
}

// The secrets, and what was counted before.
Result<void> Server::open_state() {
  table::HashKey log_key = table::HashKey::random();
  drop_unusable_directory();
  const fs::path& directory = config_.state.directory;
  if (!directory.empty()) {
    auto token = open_admin_token(directory);
    if (!token) return tl::unexpected(token.error());
    admin_token_ = std::move(*token);
  }
  if (!directory.empty() || config_.log.hash_key_file) {
    const auto key =
        observe::open_hash_key(config_.log.hash_key_file.value_or(directory / observe::hash_key_file).string());
    if (!key) return tl::unexpected(key.error());
    log_key = *key;
  }
  names_.emplace(log_key);
  if (config_.log.denials) decisions_.emplace(*writer_, decision_options(*config_.log.denials));
  return restore_states();
}

// In a container the home directory may not be there, or not be writable. Whoever names a directory, or wants
// snapshots, is told that it cannot be used; others are served without one.
void Server::drop_unusable_directory() {
  StateConfig& state = config_.state;
  if (state.is_named || state.snapshot_every) return;
  std::string why = "nothing says where";
  if (!state.directory.empty()) {
    const auto prepared = prepare_state_directory(state.directory);
    if (prepared) return;
    why = prepared.error().message();
    state.directory.clear();
  }
  log_->warning(
      "there is no state directory: no snapshots, no admin token (so that nothing can be reset or reloaded from "
      "outside), and consumers have other names in the log after a restart: " +
      why);
}

Result<void> Server::restore_states() {
  if (const auto& redis = config_.store.redis) {
    auto shared = open_shared_limits(*redis, std::make_shared<StoreLog>(*log_));
    if (!shared) return failure("store", shared.error().message());
    shared_limits_ = std::move(*shared);
  }
  const engine::Engine::Options options{.memory_budget = policy_memory(config_),
                                        .hash_key = table::HashKey::random(),
                                        .shared_keys = shared_limits_ ? shared_limits_->keys : nullptr};
  if (!config_.state.snapshot_every) {
    auto engine = engine::Engine::create(std::exchange(first_ruleset_, nullptr), options);
    if (!engine) return tl::unexpected(engine.error());
    engine_ = std::move(*engine);
  } else {
    auto restored =
        engine::Engine::restore(std::exchange(first_ruleset_, nullptr), options, states_path(), clock_.now());
    if (!restored) return tl::unexpected(restored.error());
    engine_ = std::move(restored->engine);
    for (const Error& problem : restored->problems) log_->warning(problem.message());
    if (!restored->names.empty()) {
      log_->info("restored the states of " + std::to_string(restored->names.size()) + " tables");
    }
  }
  return config_.doors.resp ? open_throttle(throttle_memory(config_)) : Result<void>();
}

Result<void> Server::open_throttle(std::size_t memory) {
  std::error_code error;
  if (config_.state.snapshot_every && fs::exists(throttle_path(), error)) {
    auto restored = store::ThrottleTable::restore(throttle_path(), memory, clock_.now());
    if (restored) {
      throttle_ = std::move(*restored);
      return {};
    }
    log_->warning(restored.error().message());
  }
  auto made = store::ThrottleTable::create(memory, engine_->hash_key());
  if (!made) return tl::unexpected(made.error());
  throttle_ = std::move(*made);
  return {};
}

fs::path Server::states_path() const {
  return config_.state.directory / states_folder;
}

fs::path Server::throttle_path() const {
  return store::SnapshotFolder(states_path()).file("throttle");
}

Result<void> Server::open_stations() {
  const std::size_t count = loop_count(config_);
  auto loops = net::Loops::make(count);
  if (!loops) return tl::unexpected(loops.error());
  loops_ = std::move(*loops);
  const auto options = door_options(config_, admin_token_, count);
  if (!options) return tl::unexpected(options.error());
  const Premises premises{.engine = *engine_,
                          .clock = clock_,
                          .health = health_,
                          .names = *names_,
                          .log = decisions_ ? &*decisions_ : nullptr,
                          .throttle = throttle_.get(),
                          .backend = *this,
                          .redis = shared_limits_ ? &shared_limits_->options : nullptr};
  for (std::size_t i = 0; i < count; ++i) {
    if (shared_limits_) store_counts_.push_back(std::make_unique<store::StoreCounts>());
    store::StoreCounts* const counts = shared_limits_ ? store_counts_.back().get() : nullptr;
    stations_.push_back(std::make_unique<Station>(premises, *options, (*loops_)[i], counts));
  }
  return {};
}

Result<void> Server::open_doors() {
  if (const auto& http = config_.doors.http) {
    const auto bounds =
        answering_late_requests(holding(wire::http1::Limits{.body_bytes = http->max_body}.largest_request()));
    if (auto opened = open_door("http", *http, {"http/1.1"}, bounds, &Station::http); !opened) return opened;
  }
  if (const auto& rls = config_.doors.rls) {
    if (auto opened = open_door("rls", *rls, {"h2"}, long_lived({}), &Station::rls); !opened) return opened;
  }
  if (const auto& resp = config_.doors.resp) {
    const auto bounds = long_lived(holding(2 * wire::resp::CommandLimits().command_length));
    if (auto opened = open_door("resp", *resp, {}, bounds, &Station::resp); !opened) return opened;
  }
  if (const auto& admin = config_.doors.admin) {
    const auto bounds = answering_late_requests(holding(wire::http1::Limits().largest_request()));
    if (auto opened = open_door("admin", *admin, {"http/1.1"}, bounds, &Station::admin); !opened) return opened;
  }
  return {};
}

template <class Choose>
Result<void> Server::open_door(std::string_view name, const DoorConfig& config,
                               const std::vector<std::string>& applications, const net::ConnectionOptions& bounds,
                               Choose choose) {
  Door door{.name = name, .tls = nullptr, .listeners = {}};
  if (config.tls) {
    auto tls = net::TlsContext::load(*config.tls, applications);
    if (!tls) return failure("doors." + std::string(name), tls.error().message());
    door.tls = std::move(*tls);
  }
  net::ListenOptions options;
  options.max_connections = config.max_connections;
  options.unix_mode = config.unix_mode;
  options.connection = bounds;
  const net::MakeSession make = [this, choose](const net::Peer& peer, const net::Link& link) {
    return ((*stations_[link.loop()->index()]).*choose)()->open(peer, link);
  };
  for (const net::Address& address : config.listen) {
    options.tls = address.unix_socket() ? nullptr : door.tls;
    auto listener = net::Listener::open(*loops_, address, options, make);
    if (!listener) return failure("doors." + std::string(name), listener.error().message());
    door.listeners.push_back(std::move(*listener));
  }
  doors_.push_back(std::move(door));
  return {};
}

void Server::log_warnings(const std::vector<policy::Problem>& problems) {
  for (const policy::Problem& problem : problems) {
    if (problem.severity == policy::Severity::warning) log_->warning(problem.text());
  }
}

void Server::log_policy() {
  const auto plan = engine_->plan();
  for (const std::string& line : policy::roster(plan->ruleset())) log_->info("limit " + line);
}

std::vector<Server::Place> Server::places() const {
  std::vector<Place> places;
  for (const Door& door : doors_) {
    for (const auto& listener : door.listeners) {
      const bool is_unix = listener->bound().unix_socket();
      places.push_back({door.name, listener->bound(), door.tls != nullptr && !is_unix});
    }
  }
  return places;
}

void Server::tick() {
  const Instant now = clock_.now();
  if (decisions_) decisions_->tick(now);
  if (!traffic_.is_due(now)) return;  // kept by this thread alone, read by others
  observe::TrafficTotals totals = traffic_totals(engine_->totals().by_limit_and_route);
  const std::lock_guard guard(mutex_);
  traffic_.keep(now, std::move(totals));
}

void Server::save() {
  if (!config_.state.snapshot_every || config_.state.directory.empty()) return;
  const Instant now = clock_.now();
  auto saved = engine_->save(states_path(), now);
  const auto throttles_saved = throttle_ ? throttle_->save(throttle_path(), now) : Result<void>();
  if (saved) saved = throttles_saved;
  if (!saved) log_->error("what was counted could not be saved: " + saved.error().message());
  const std::lock_guard guard(mutex_);
  last_saved_ = door::AdminStatus::Snapshot{.at = now, .error = saved ? std::string() : saved.error().message()};
}

void Server::announce_stop() {
  health_.set_serving(false);
  log_->info("stopping in " + policy::duration_text(config_.grace) + ": until then all is answered, but not ready");
}

void Server::stop() {
  health_.set_serving(false);
  refuse_requests();
  log_->info("stopping: no new connections, and what is under way is finished");
  const auto deadline = net::Moment::clock::now() + config_.drain;
  for (Door& door : doors_) {
    for (const auto& listener : door.listeners) listener->start_drain();
  }
  std::size_t cut = 0;
  for (Door& door : doors_) {
    for (const auto& listener : door.listeners) cut += listener->await_drained(deadline);
  }
  if (cut > 0) log_->warning(std::to_string(cut) + " connections were cut off: they were not idle in time");
  doors_.clear();
  loops_->stop();
  save();
  log_->info("stopped");
}

}  // namespace weir::server
