// The part of Server that takes over changed files.
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/server.h"
#include "server/store_fit.h"

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

// The doors that weir.yaml says otherwise than at the start, so that they need a restart.
std::set<std::string_view> changed_doors(const DoorsConfig& before, const DoorsConfig& after) {
  std::set<std::string_view> names;
  if (!same_door(before.http, after.http)) names.insert("http");
  if (!same_door(before.rls, after.rls)) names.insert("rls");
  if (!same_door(before.resp, after.resp)) names.insert("resp");
  if (!same_door(before.admin, after.admin)) names.insert("admin");
  return names;
}

void replace(const std::set<std::string_view>& names, const DoorsConfig& by, DoorsConfig& doors) {
  if (names.contains("http")) doors.http = by.http;
  if (names.contains("rls")) doors.rls = by.rls;
  if (names.contains("resp")) doors.resp = by.resp;
  if (names.contains("admin")) doors.admin = by.admin;
}

// What else a running server does not follow.
std::string needs_restart(const std::set<std::string_view>& doors, const Config& before, const Config& after) {
  std::string what;
  const auto add = [&](bool same, std::string_view name) {
    if (!same) what += (what.empty() ? "" : ", ") + std::string(name);
  };
  for (const std::string_view door : doors) add(false, "doors." + std::string(door));
  add(same_bodies(before.doors.http, after.doors.http), "doors.http.max_body");
  add(before.state.directory == after.state.directory && before.state.memory == after.state.memory, "state");
  add(before.log.file == after.log.file && before.log.hash_key_file == after.log.hash_key_file &&
          before.log.level == after.log.level && before.log.denials == after.log.denials,
      "log");
  add(before.store == after.store, "store");
  add(before.loops == after.loops, "loops");
  return what;
}

}  // namespace

// All that can fail comes before the first change. Doors that need a restart go on as they are, with their tokens: a
// guard belongs to the addresses that it guards.
Result<std::string> Server::apply(Loaded loaded) {
  Config& next = *loaded.config;
  const auto unfit =
      misfits(*loaded.ruleset, began_with_.store, next.policy.value_or(std::filesystem::path()).string());
  if (!unfit.empty()) return failure("store", unfit.front().text());
  const auto changed = changed_doors(began_with_.doors, next.doors);
  const std::string restart = needs_restart(changed, began_with_, next);
  replace(changed, {}, next.doors);
  if (next.doors.http) next.doors.http->max_body = began_with_.doors.http->max_body;
  const auto options = door_options(next, admin_token_, stations_.size());
  if (!options) return tl::unexpected(options.error());
  std::vector<std::pair<net::TlsContext*, std::shared_ptr<ssl_ctx_st>>> certificates;
  for (const Door& door : doors_) {
    if (!door.tls || changed.contains(door.name)) continue;
    auto read = door.tls->prepare();
    if (!read) return tl::unexpected(read.error());
    certificates.emplace_back(door.tls.get(), std::move(*read));
  }
  if (const auto taken = engine_->reload(loaded.ruleset, clock_); !taken) return tl::unexpected(taken.error());
  for (auto& [tls, read] : certificates) tls->take(std::move(read));
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    (*loops_)[i].run([&] { stations_[i]->change(*options); });
  }
  if (!restart.empty()) log_->warning("a restart is needed for what has changed in: " + restart);
  const std::lock_guard guard(mutex_);
  config_.policy = next.policy;
  config_.merge_domains = next.merge_domains;
  config_.fields = next.fields;
  config_.grace = next.grace;
  config_.drain = next.drain;
  if (next.state.directory == began_with_.state.directory) {
    config_.state.snapshot_every = next.state.snapshot_every;
  }
  replace(changed, config_.doors, next.doors);
  config_.doors = std::move(next.doors);
  reloads_.policy_file = config_.policy.value_or(std::filesystem::path()).string();
  return restart;
}

Result<Server::Reload> Server::reload() {
  Loaded loaded = load(sources_);
  watch_ = loaded.watch;
  log_warnings(loaded.problems);
  const Result<std::string> outcome =
      loaded.complete() ? apply(std::move(loaded)) : Result<std::string>(failure("reload", loaded.errors()));
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
  if (!outcome) return tl::unexpected(outcome.error());
  reloads_.loaded_at = now;
  return Reload{.digest = engine_->plan()->ruleset().digest, .restart_needed = *outcome};
}

void Server::reload(Reloaded done) {
  std::unique_lock lock(mutex_);
  if (stopping_) {
    lock.unlock();
    done(failure("reload", "the server is stopping"));
    return;
  }
  waiting_.push_back(std::move(done));
  const std::function<void()> wake = wake_;
  lock.unlock();
  if (wake) wake();
}

void Server::refuse_requests() {
  std::vector<Reloaded> waiting;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    waiting.swap(waiting_);
  }
  for (const Reloaded& done : waiting) done(failure("reload", "the server is stopping"));
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
  const Result<Reload> outcome = reload();
  for (const Reloaded& done : waiting) done(outcome);
}

}  // namespace weir::server
