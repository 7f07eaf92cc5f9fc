#include "overrides/service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/number.h"
#include "engine/bindings.h"
#include "text/yaml/problem.h"

namespace weir::overrides {
namespace {

constexpr std::string_view expired_by = "weir";

// Times of changes are for people: whole seconds, as the API writes them.
Instant floor_seconds(Instant at) {
  return Instant(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()));
}

std::string new_id(const Record& record) {
  static thread_local std::random_device random;
  const std::string_view prefix = record.kind == Kind::block ? "b-" : record.is_grant() ? "g-" : "o-";
  std::string id(prefix);
  base::append_hex(id, std::uint64_t{random()} << 32 | random(), 16);
  return id;
}

Answer rejected(unsigned status, std::string text) {
  return {.status = status, .text = std::move(text)};
}

Answer missing(Kind kind, std::string_view id) {
  return rejected(404, "Unknown " + std::string(name_of(kind)) + " " + text::in_quotes(id) + ".");
}

// Compares If-Match with the version of the record. `*` matches any record that exists.
bool is_condition_met(std::string_view if_match, const Record* existing) {
  if (if_match.empty()) return true;
  if (existing == nullptr) return false;
  if (if_match == "*") return true;
  if (if_match.size() >= 2 && if_match.front() == '"' && if_match.back() == '"') {
    if_match = if_match.substr(1, if_match.size() - 2);
  }
  return base::parse_number<std::uint64_t>(if_match) == existing->version;
}

Answer condition_failed(const Record* existing) {
  return rejected(412, existing == nullptr ? "If-Match names a version, and there is no such record."
                                           : "If-Match names another version: the current one is " +
                                                 std::to_string(existing->version) + ".");
}

}  // namespace

Result<std::unique_ptr<Service>> Service::open(engine::Engine& engine, const Clock& clock, Options options) {
  std::unique_ptr<Service> service(new Service(engine, clock, std::move(options)));
  if (service->options_.directory.empty()) return service;
  auto log = ChangeLog::open(service->options_.directory / change_log_file,
                             [&](const Change& change) { service->registry_.apply(change); });
  if (!log) return tl::unexpected(log.error());
  service->log_.emplace(std::move(*log));
  if (service->registry_.empty()) return service;
  if (auto taken = service->reload(); !taken) return tl::unexpected(taken.error());
  service->expire();
  return service;
}

Answer Service::answer(const ServiceRequest& request) {
  switch (request.action) {
    case ServiceRequest::Action::put:
      return put(request);
    case ServiceRequest::Action::remove:
      return remove(request);
    case ServiceRequest::Action::show:
      return show(request);
    case ServiceRequest::Action::list:
      return list(request);
    case ServiceRequest::Action::history:
      break;
  }
  return history(request);
}

// --- changes

std::optional<Answer> Service::find_existing(Plan& plan) const {
  const Record& record = plan.record;
  const Registry::Entry same_target =
      record.is_grant() ? Registry::Entry{} : registry_.find_for(record.kind, record.limit, record.target);
  plan.existing = record.id.empty() ? same_target : registry_.find(record.kind, record.id);
  const Record* const existing = plan.existing.record;
  if (existing != nullptr && (existing->limit != record.limit || existing->target != record.target)) {
    return rejected(409, "id: " + text::in_quotes(record.id) + " is already used for " +
                             (existing->limit.empty() ? "" : existing->limit + ", ") + existing->target +
                             "; use another id");
  }
  if (same_target.record != nullptr && same_target.number != plan.existing.number) {
    return rejected(409, "id: " + record.target + " already has the " + std::string(name_of(record.kind)) + " " +
                             text::in_quotes(same_target.record->id) + "; send that id to replace it, or remove it");
  }
  if (record.id.empty()) plan.record.id = existing != nullptr ? existing->id : new_id(record);
  return std::nullopt;
}

Result<void> Service::check_override(const Plan& plan, const Target& target) const {
  const auto bindings = engine_.bindings();
  const policy::Ruleset& ruleset = bindings->ruleset();
  const Record& record = plan.record;
  const Registry::Entry own = registry_.find_for(Kind::limit_override, record.limit, record.target);
  const Terms* const terms = !record.is_grant() ? &record.terms : own.record == nullptr ? nullptr : &own.record->terms;
  std::uint64_t granted = record.is_grant() ? record.terms.add : 0;
  for (const Registry::Entry& grant : registry_.grants_for(record.limit, record.target)) {
    if (grant.number != plan.existing.number) granted += grant.record->terms.add;
  }
  const auto replacement = replacement_for(ruleset, target.limit, terms, granted);
  if (!replacement) return tl::unexpected(replacement.error());
  return check_trust(ruleset, target, *replacement);
}

std::optional<Answer> Service::plan_override(Plan& plan) const {
  const auto bindings = engine_.bindings();
  const auto target = find_target(bindings->matcher(), plan.record);
  if (!target) return rejected(400, target.error().message());
  plan.record.target = target->consumer;
  plan.key = target->key;
  if (plan.record.is_grant()) {
    const auto end = window_end(bindings->ruleset().limits[target->limit], clock_.now());
    if (!end) return rejected(400, end.error().message());
    plan.record.expires_at = *end;
  }
  if (auto answer = find_existing(plan)) return answer;
  if (const auto checked = check_override(plan, *target); !checked) return rejected(400, checked.error().message());
  return std::nullopt;
}

std::optional<Answer> Service::plan_block(Plan& plan) const {
  const auto resolved = resolve_block(plan.record, 0);
  if (!resolved) return rejected(400, resolved.error().message());
  plan.record.target = resolved->identity.text();
  return find_existing(plan);
}

Answer Service::put(const ServiceRequest& request) {
  if (!log_) {
    return rejected(403,
                    "Overrides are disabled: this server has no state directory that it can write to. Set "
                    "state.directory in weir.yaml.");
  }
  const Instant now = clock_.now();
  auto record = read_request(request.kind, request.body, now);
  if (!record) return rejected(400, record.error().message());
  Plan plan{.record = std::move(*record)};
  const auto failed = request.kind == Kind::block ? plan_block(plan) : plan_override(plan);
  if (failed) return *failed;
  const Record* const existing = plan.existing.record;
  if (!is_condition_met(request.if_match, existing)) return condition_failed(existing);
  if (existing != nullptr && existing->is_same_request(plan.record)) return describe(plan.existing);
  plan.record.by = request.by;
  plan.record.created_at = floor_seconds(now);
  plan.record.version = registry_.version() + 1;
  const Change change{
      .version = plan.record.version, .at = floor_seconds(now), .by = request.by, .record = plan.record};
  if (const auto done = commit({&change, 1}); !done) return rejected(503, done.error().message());
  if (options_.on_change) options_.on_change({change, plan.key});
  return describe(registry_.find(request.kind, plan.record.id));
}

Answer Service::remove(const ServiceRequest& request) {
  const Registry::Entry existing = registry_.find(request.kind, request.id);
  if (existing.record == nullptr) return missing(request.kind, request.id);
  if (!is_condition_met(request.if_match, existing.record)) return condition_failed(existing.record);
  const Answer removed = describe(existing);
  const Change change{.action = Change::Action::remove,
                      .version = registry_.version() + 1,
                      .at = floor_seconds(clock_.now()),
                      .by = request.by,
                      .record = *existing.record};
  std::string key;
  if (request.kind == Kind::limit_override) {
    const auto target = find_target(engine_.bindings()->matcher(), *existing.record);
    if (target) key = target->key;
  }
  if (const auto done = commit({&change, 1}); !done) return rejected(503, done.error().message());
  if (options_.on_change) options_.on_change({change, key});
  return removed;
}

// A change is logged before it is applied, so a change that is visible survives a crash.
Result<void> Service::commit(std::span<const Change> changes) {
  if (auto written = log_->append(changes); !written) return written;
  for (const Change& change : changes) {
    {
      const std::lock_guard guard(mutex_);
      registry_.apply(change);
    }
    activate(change.record);
  }
  compact();
  return {};
}

void Service::expire() {
  if (!log_) return;
  const Instant now = clock_.now();
  std::vector<Change> changes;
  std::uint64_t version = registry_.version();
  for (const Registry::Entry& entry : registry_.expired(now)) {
    changes.push_back({.action = Change::Action::expire,
                       .version = ++version,
                       .at = floor_seconds(now),
                       .by = std::string(expired_by),
                       .record = *entry.record});
  }
  // Matching ignores expired entries. If the log cannot be written now, they are removed later.
  if (!changes.empty()) (void)commit(changes);
}

// Rewrites the log when less than half of its lines are needed.
void Service::compact() {
  if (log_->lines() < 2 * (registry_.size() + registry_.history().size()) + Registry::max_history) return;
  (void)log_->rewrite(registry_.essential_changes());  // on an error the old file stays
}

// --- reading

Answer Service::describe(const Registry::Entry& entry) const {
  const auto inactive = inactive_.find(entry.number);
  return {.text = record_json(*entry.record, inactive == inactive_.end() ? "" : inactive->second),
          .version = entry.record->version};
}

Answer Service::show(const ServiceRequest& request) const {
  const Registry::Entry entry = registry_.find(request.kind, request.id);
  return entry.record == nullptr ? missing(request.kind, request.id) : describe(entry);
}

Answer Service::list(const ServiceRequest& request) const {
  const Registry::Page page = registry_.list({.kind = request.kind,
                                              .limit = request.limit,
                                              .target = request.target,
                                              .cursor = request.cursor,
                                              .max = request.max});
  std::string text =
      R"({"version":)" + std::to_string(registry_.version()) + R"(,")" + std::string(name_of(request.kind)) + R"(s":[)";
  for (std::size_t i = 0; i < page.entries.size(); ++i) text += (i == 0 ? "" : ",") + describe(page.entries[i]).text;
  text += page.next.empty() ? R"(],"next":null})" : R"(],"next":")" + page.next + R"("})";
  return {.text = std::move(text)};
}

// The newest first.
Answer Service::history(const ServiceRequest& request) const {
  std::string text = R"({"changes":[)";
  std::size_t written = 0;
  const auto& changes = registry_.history();
  for (auto change = changes.rbegin(); change != changes.rend() && written < request.max; ++change) {
    if (change->record.kind != request.kind) continue;
    text += (written++ == 0 ? "" : ",") + change_json(*change);
  }
  return {.text = text + "]}"};
}

std::string Service::id_of(Registry::Number number) const {
  const std::lock_guard guard(mutex_);
  const Record* const record = registry_.find(number);
  return record == nullptr ? std::string() : record->id;
}

Service::Figures Service::figures() const {
  const std::lock_guard guard(mutex_);
  return {.overrides = registry_.count(Kind::limit_override),
          .blocks = registry_.count(Kind::block),
          .inactive = inactive_.size(),
          .version = registry_.version()};
}

}  // namespace weir::overrides
