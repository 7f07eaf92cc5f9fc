// The part of Server that takes over changed files.
#include <string>
#include <utility>

#include "server/server.h"

namespace weir::server {
namespace {

bool same_places(const DoorConfig& before, const DoorConfig& after) {
  const auto text = [](const DoorConfig& door) {
    std::string all;
    for (const net::Address& address : door.listen) all += address.text() + " ";
    if (door.tls) all += door.tls->certificate_chain + "|" + door.tls->key + "|" + door.tls->client_ca;
    return all;
  };
  return text(before) == text(after) && before.max_connections == after.max_connections &&
         before.unix_mode == after.unix_mode;
}

template <class DoorType>
bool same_door(const std::optional<DoorType>& before, const std::optional<DoorType>& after) {
  return before.has_value() == after.has_value() && (!before || same_places(*before, *after));
}

bool same_bodies(const std::optional<HttpDoorConfig>& before, const std::optional<HttpDoorConfig>& after) {
  return !before || !after || before->max_body == after->max_body;
}

// What weir.yaml says otherwise than at the start, and a running server does not follow.
std::string needs_restart(const Config& before, const Config& after) {
  std::string what;
  const auto add = [&](bool same, std::string_view name) {
    if (!same) what += (what.empty() ? "" : ", ") + std::string(name);
  };
  add(same_door(before.doors.http, after.doors.http) && same_bodies(before.doors.http, after.doors.http), "doors.http");
  add(same_door(before.doors.rls, after.doors.rls), "doors.rls");
  add(same_door(before.doors.resp, after.doors.resp), "doors.resp");
  add(same_door(before.doors.admin, after.doors.admin), "doors.admin");
  add(before.state.directory == after.state.directory && before.state.memory == after.state.memory, "state");
  add(before.log.file == after.log.file && before.log.hash_key_file == after.log.hash_key_file &&
          before.log.level == after.log.level && before.log.denials == after.log.denials,
      "log");
  add(before.loops == after.loops, "loops");
  return what;
}

}  // namespace

// All that can fail comes before the first change that others see; certificates change one by one.
Result<void> Server::apply(Loaded loaded) {
  const auto options = door_options(*loaded.config, admin_token_, stations_.size());
  if (!options) return tl::unexpected(options.error());
  for (Door& door : doors_) {
    if (!door.tls) continue;
    if (const auto read = door.tls->reload(); !read) return tl::unexpected(read.error());
  }
  if (const auto taken = engine_->reload(loaded.ruleset, clock_.now()); !taken) return tl::unexpected(taken.error());
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    (*loops_)[i].run([&] { stations_[i]->change(*options); });
  }
  if (const std::string restart = needs_restart(began_with_, *loaded.config); !restart.empty()) {
    log_->warning("a restart is needed for what has changed in: " + restart);
  }
  const std::lock_guard guard(mutex_);
  config_.policy = loaded.config->policy;
  config_.fields = loaded.config->fields;
  config_.drain = loaded.config->drain;
  config_.state.snapshot_every = loaded.config->state.snapshot_every;
  config_.doors = std::move(loaded.config->doors);
  reloads_.policy_file = config_.policy.value_or(std::filesystem::path()).string();
  return {};
}

Result<void> Server::reload() {
  Loaded loaded = load(sources_);
  watch_ = loaded.watch;
  Result<void> outcome = loaded.complete() ? apply(std::move(loaded)) : failure("reload", loaded.errors());
  if (outcome) {
    log_->info("the files were read again and are in force");
    log_policy();
  } else {
    log_->error("nothing has changed, because of: " + outcome.error().message());
  }
  const Instant now = clock_.now();
  const std::lock_guard guard(mutex_);
  ++(outcome ? reloads_.applied : reloads_.refused);
  reloads_.last = {.at = now, .error = outcome ? std::string() : outcome.error().message()};
  if (outcome) reloads_.loaded_at = now;
  return outcome;
}

void Server::reload(Reloaded done) {
  std::function<void()> wake;
  {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(done));
    wake = wake_;
  }
  if (wake) wake();
}

void Server::on_request(std::function<void()> wake) {
  const std::lock_guard guard(mutex_);
  wake_ = std::move(wake);
}

void Server::answer_requests() {
  std::vector<Reloaded> waiting;
  {
    const std::lock_guard guard(mutex_);
    waiting.swap(waiting_);
  }
  if (waiting.empty()) return;
  const Result<void> outcome = reload();
  for (const Reloaded& done : waiting) {
    if (outcome) {
      done(engine_->plan()->ruleset().digest);
    } else {
      done(tl::unexpected(outcome.error()));
    }
  }
}

}  // namespace weir::server
