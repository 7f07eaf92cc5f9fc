// The part of Server that reloads files.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "policy/tools/diff.h"
#include "server/server.h"

namespace weir::server {
// Everything that can fail comes before the first change. Listeners that require a restart keep all of their settings:
// a token must not change without the addresses that it guards.
Result<std::string> Server::apply(Loaded loaded) {
  Config& next = *loaded.config;
  const std::vector<std::string> restarts = restart_required(initial_config_, next);
  const auto needs_restart = [&](const std::string& listener) {
    return std::ranges::find(restarts, "listeners." + listener) != restarts.end();
  };
  for (Listener& listener : next.listeners) {
    if (needs_restart(listener.name)) listener.config.reset();
  }
  const auto options = worker_options(next);
  if (!options) return tl::unexpected(options.error());
  std::vector<std::pair<net::TlsContext*, std::shared_ptr<ssl_ctx_st>>> certificates;
  for (const OpenListener& listener : listeners_) {
    if (!listener.tls || needs_restart(listener.protocol->name())) continue;
    auto read = listener.tls->prepare();
    if (!read) return tl::unexpected(read.error());
    certificates.emplace_back(listener.tls.get(), std::move(*read));
  }
  auto exceptions = overrides_->prepare(loaded.ruleset);
  if (!exceptions) return tl::unexpected(exceptions.error());
  const auto taken = engine_->reload(loaded.ruleset, clock_, std::move(exceptions->exceptions));
  if (!taken) return tl::unexpected(taken.error());
  overrides_->take(std::move(*exceptions));
  for (auto& [tls, read] : certificates) tls->take(std::move(read));
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    (*loops_)[i].run([&] { workers_[i]->change(*options); });
  }
  const std::string restart = fmt::format("{}", fmt::join(restarts, ", "));
  if (!restart.empty()) log_->warning("restart required to apply changes to: " + restart);
  const std::lock_guard guard(mutex_);
  config_.policy = next.policy;
  config_.merge_domains = next.merge_domains;
  config_.charge_all = next.charge_all;
  config_.fields = next.fields;
  config_.grace = next.grace;
  config_.drain = next.drain;
  if (next.state.directory == initial_config_.state.directory) {
    config_.state.snapshot_every = next.state.snapshot_every;
  }
  for (std::size_t i = 0; i < next.listeners.size(); ++i) {
    if (!needs_restart(next.listeners[i].name)) config_.listeners[i] = std::move(next.listeners[i]);
  }
  reloads_.policy_file = config_.policy.value_or(std::filesystem::path()).string();
  reloads_.policy_origin = next.policy_origin;
  return restart;
}

Result<Server::Reload> Server::reload() {
  Loaded loaded = load(sources_);
  watch_ = loaded.watch;
  const std::vector<text::Problem> problems = loaded.problems;
  log_warnings(problems);
  const Result<std::string> outcome =
      loaded.complete() ? apply(std::move(loaded)) : Result<std::string>(failure("reload", loaded.errors()));
  if (outcome) {
    log_->info("configuration reloaded");
    log_policy();
  } else {
    log_->error("reload failed, keeping the current configuration: " + outcome.error().message());
  }
  const Instant now = clock_.now();
  report_reload(now, outcome);
  if (outcome) watch_limits();
  const std::lock_guard guard(mutex_);
  ++(outcome ? reloads_.applied : reloads_.rejected);
  reloads_.last = {.at = now, .error = outcome ? std::string() : outcome.error().message()};
  if (!outcome) {
    reloads_.last_rejected = {.at = now, .error = outcome.error().message(), .problems = problems};
    return tl::unexpected(outcome.error());
  }
  reloads_.loaded_at = now;
  reloads_.problems = problems;
  return Reload{.digest = engine_->bindings()->ruleset().digest, .restart_needed = *outcome};
}

void Server::report_reload(Instant now, const Result<std::string>& outcome) {
  observe::Notice notice{.kind = observe::Notice::Kind::reload, .at = now};
  if (outcome) {
    const std::string digest = engine_->bindings()->ruleset().digest;
    notice.message = "configuration reloaded, policy digest " + digest.substr(0, 12);
    if (!outcome->empty()) notice.message += "; restart required to apply changes to: " + *outcome;
  } else {
    notice.level = observe::Level::error;
    notice.message = "reload failed, keeping the current configuration: " + outcome.error().message();
  }
  live_->note(std::move(notice));
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

void Server::do_later(std::function<void()> work, std::function<void()> reject) {
  std::unique_lock lock(mutex_);
  if (stopping_) {
    lock.unlock();
    reject();
    return;
  }
  later_.push_back({std::move(work), std::move(reject)});
  const std::function<void()> wake = wake_;
  lock.unlock();
  if (wake) wake();
}

void Server::policy(PolicyRead done) {
  do_later([this, done] { done(policy_report()); }, [done] { done(failure("policy", "the server is stopping")); });
}

void Server::limits(const frontend::LimitsQuery& query, LimitsRead done) {
  do_later([this, query, done] { done(limits_report(query)); },
           [done] { done(failure("limits", "the server is stopping")); });
}

void Server::overrides(const overrides::ServiceRequest& request, OverridesAnswered done) {
  do_later([this, request, done] { done(overrides_->answer(request)); },
           [done] { done(failure("overrides", "the server is stopping")); });
}

void Server::reject_requests() {
  std::vector<Reloaded> waiting;
  std::vector<Later> later;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    waiting.swap(waiting_);
    later.swap(later_);
  }
  for (const Reloaded& done : waiting) done(failure("reload", "the server is stopping"));
  for (const Later& each : later) each.reject();
}

// Reads files, so it must not run on a loop. Reads them again only if they or the active policy have changed.
frontend::PolicyReport Server::policy_report() {
  const auto bindings = engine_->bindings();
  const policy::Ruleset& running = bindings->ruleset();
  if (!disk_policy_ || disk_policy_->compared_with != running.digest || disk_policy_->watch.changed()) {
    Loaded loaded = load(sources_);
    DiskPolicy& disk = disk_policy_.emplace();
    disk.compared_with = running.digest;
    disk.watch = std::move(loaded.watch);
    disk.read.read_at = clock_.now();
    if (loaded.flag_error) {
      disk.read.problems.push_back({text::Severity::error, loaded.flag_error->where, {}, loaded.flag_error->what});
    }
    disk.read.problems.insert(disk.read.problems.end(), loaded.problems.begin(), loaded.problems.end());
    if (loaded.complete()) {
      disk.read.digest = loaded.ruleset->digest;
      disk.read.changes = policy::diff(running, *loaded.ruleset);
    }
  }
  const std::lock_guard guard(mutex_);
  return frontend::PolicyReport{.running = {.file = reloads_.policy_file,
                                            .origin = reloads_.policy_origin,
                                            .digest = running.digest,
                                            .loaded_at = reloads_.loaded_at,
                                            .limits = running.limits.size(),
                                            .warnings = reloads_.problems},
                                .on_disk = disk_policy_->read,
                                .last_reload = reloads_.last,
                                .last_rejected = reloads_.last_rejected};
}

void Server::on_request(std::function<void()> wake) {
  const std::lock_guard guard(mutex_);
  wake_ = std::move(wake);
}

void Server::answer_requests() {
  std::vector<Reloaded> waiting;
  std::vector<Later> later;
  {
    const std::lock_guard guard(mutex_);
    waiting.swap(waiting_);
    later.swap(later_);
  }
  if (!waiting.empty()) {
    const Result<Reload> outcome = reload();
    for (const Reloaded& done : waiting) done(outcome);
  }
  for (const Later& each : later) each.work();
}

}  // namespace weir::server
