#include "door/admin/descriptor.h"

#include <optional>

#include "door/admin/json_writer.h"
#include "engine/judge.h"
#include "engine/verdict.h"

namespace weir::door {
namespace {

using engine::DescriptorStatus;
using engine::Reason;

// A question of no hits charges nothing, and is not counted.
engine::DescriptorAsk look(const std::vector<engine::DescriptorEntry>& entries) noexcept {
  return {.entries = entries, .hits = Cost{0}, .limit_override = {}};
}

// What the next request of one hit would be told.
void write_next(const DescriptorStatus& status, JsonWriter& json) {
  const Decision& decision = status.decision;
  const bool admitted = status.kind != DescriptorStatus::Kind::limited || decision.remaining > 0;
  json.field("admitted", admitted);
  const bool never = status.kind == DescriptorStatus::Kind::limited && status.numbers.limit == 0;
  json.field("reason", name_of(status.kind != DescriptorStatus::Kind::limited ? Reason::uncovered
                               : never                                        ? Reason::banned
                               : admitted                                     ? Reason::within
                                                                              : Reason::exceeded));
  json.field("retry_after", never ? std::nullopt : std::optional(admitted ? Duration::zero() : decision.reset_after));
}

// A window has more when it ends, and then all.
void write_figures(const DescriptorStatus& status, bool is_shadow, JsonWriter& json) {
  if (status.kind != DescriptorStatus::Kind::limited) {
    for (const auto* name : {"mode", "quota", "remaining", "reset_after", "more_after"}) json.null(name);
    return;
  }
  const Decision& decision = status.decision;
  json.field("mode", name_of(is_shadow ? policy::Mode::shadow : policy::Mode::enforce));
  json.field("quota", decision.limit);
  json.field("remaining", decision.remaining);
  json.field("reset_after", decision.reset_after);
  json.field("more_after",
             decision.remaining < decision.limit ? std::optional(decision.reset_after) : std::optional<Duration>());
}

}  // namespace

std::vector<engine::DescriptorEntry> DescriptorTask::entries() const {
  std::vector<engine::DescriptorEntry> entries;
  for (const auto& [key, value] : texts_) entries.push_back({key, value});
  return entries;
}

Result<std::string> DescriptorTask::judge(Desk& desk) const {
  engine::Judge& judge = desk.judge();
  const auto hold = judge.hold();
  const auto entries = this->entries();
  if (kind_ == Kind::reset) {
    const auto forgotten = judge.reset(engine::DescriptorName{domain_, entries}, desk.now());
    if (!forgotten) return tl::unexpected(forgotten.error());
    return done();
  }
  const engine::DescriptorAsk ask = look(entries);
  DescriptorStatus status;
  (void)judge.judge(domain_, {&ask, 1}, desk.now(), {&status, 1});
  return inspection(judge.plan(), status);
}

void DescriptorTask::ask(engine::Hearing& hearing) {
  heard_ = entries();
  if (kind_ == Kind::reset) return hearing.add_descriptor_reset({domain_, heard_});
  const engine::DescriptorAsk ask = look(heard_);
  hearing.add(domain_, {&ask, 1});
}

Result<std::string> DescriptorTask::answer(const engine::Hearing& hearing) const {
  if (kind_ == Kind::inspect) return inspection(hearing.plan(), hearing.statuses(0).front());
  if (const auto& forgotten = hearing.reset(0); !forgotten) return tl::unexpected(forgotten.error());
  return done();
}

unsigned DescriptorTask::status_of_error(Desk& desk) const {
  const auto hold = desk.judge().hold();
  std::string key;
  const auto entries = this->entries();
  if (!engine::find_descriptor(desk.judge().plan().ruleset(), {domain_, entries}, key)) return 404;
  return desk.is_shared() ? 503 : 409;
}

Result<std::string> DescriptorTask::inspection(const engine::Plan& plan, const DescriptorStatus& status) const {
  std::string key;
  const auto entries = this->entries();
  const auto found = engine::find_descriptor(plan.ruleset(), {domain_, entries}, key);
  if (!found) return tl::unexpected(found.error());
  JsonWriter json;
  json.begin_object();
  json.field("domain", domain_);
  if ((*found)->limit) {
    json.field("limit", plan.ruleset().limits[*(*found)->limit].name);
  } else {
    json.null("limit");
  }
  json.field("tier", plan.ruleset().tiers.names.front());
  write_next(status, json);
  write_figures(status, (*found)->shadow_mode, json);
  json.field("consumer", engine::describe_descriptor(entries));
  json.end_object();
  return json.take();
}

std::string DescriptorTask::done() const {
  JsonWriter json;
  json.begin_object();
  json.field("domain", domain_);
  json.field("consumer", engine::describe_descriptor(entries()));
  json.field("reset", true);
  json.end_object();
  return json.take();
}

}  // namespace weir::door
