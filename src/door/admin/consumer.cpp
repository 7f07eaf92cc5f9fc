#include "door/admin/consumer.h"

#include "door/admin/json_writer.h"
#include "engine/consumer.h"
#include "engine/named.h"
#include "engine/until_more.h"

namespace weir::door {
namespace {

using engine::NamedAsk;
using engine::Verdict;

// What the limit says of it; null where the tier has no numbers, or only its candidate has.
const engine::Outcome* outcome_of(const engine::Plan& plan, const Verdict& verdict) noexcept {
  if (verdict.outcomes.empty()) return nullptr;
  const engine::Outcome& outcome = verdict.outcomes.front();
  return plan.limits()[outcome.limit].source->live.by_tier[verdict.tier] ? &outcome : nullptr;
}

// What the limit would say to the next request. A limit in shadow has no part in the verdict: then its own decision is
// all there is.
void write_next(const Verdict& verdict, const engine::Outcome* outcome, JsonWriter& json) {
  if (outcome == nullptr || outcome->standing == engine::Standing::live) {
    json.field("admitted", verdict.admitted);
    json.field("reason", name_of(verdict.reason));
    json.field("retry_after", verdict.retry_after);
    return;
  }
  const Decision& decision = outcome->decision;
  json.field("admitted", decision.admitted);
  json.field("reason", name_of(decision.admitted ? engine::Reason::within : engine::Reason::exceeded));
  json.field("retry_after", decision.retry_after);
}

// What is there before it.
void write_figures(const engine::Plan& plan, const Verdict& verdict, Instant now, JsonWriter& json) {
  const engine::Outcome* const outcome = outcome_of(plan, verdict);
  if (outcome == nullptr) {
    for (const auto* name : {"mode", "quota", "remaining", "reset_after", "more_after"}) json.null(name);
    return;
  }
  json.field("mode", name_of(plan.limits()[outcome->limit].source->mode));
  json.field("quota", outcome->decision.limit);
  json.field("remaining", outcome->decision.remaining);
  json.field("reset_after", outcome->decision.reset_after);
  json.field("more_after", engine::until_more(plan, *outcome, verdict.tier, now));
}

}  // namespace

Result<std::string> inspect_json(Desk& desk, std::string_view limit, std::string_view consumer, std::string_view tier) {
  engine::Judge& judge = desk.judge();
  const auto hold = judge.hold();
  const Instant now = desk.now();
  NamedAsk ask{.limit = limit, .consumer = consumer, .tier = tier, .peek = true};
  JsonWriter json;
  json.begin_object();
  json.field("limit", limit);
  const Result<Verdict> next = judge.judge(ask, now);
  if (!next) return tl::unexpected(next.error());
  json.field("tier", judge.plan().ruleset().tiers.names[next->tier]);
  write_next(*next, outcome_of(judge.plan(), *next), json);
  ask.cost = Cost{0};  // what a decision leaves is told as if it were charged
  const Result<Verdict> present = judge.judge(ask, now);
  if (!present) return tl::unexpected(present.error());
  write_figures(judge.plan(), *present, now, json);
  json.field("consumer", engine::describe_consumer(judge.consumer_of(ask)));
  json.end_object();
  return json.take();
}

Result<std::string> reset_json(Desk& desk, std::string_view limit, std::string_view consumer) {
  engine::Judge& judge = desk.judge();
  const auto hold = judge.hold();
  const NamedAsk ask{.limit = limit, .consumer = consumer};
  if (const auto done = judge.reset(ask, desk.now()); !done) return tl::unexpected(done.error());
  JsonWriter json;
  json.begin_object();
  json.field("limit", limit);
  json.field("consumer", engine::describe_consumer(judge.consumer_of(ask)));
  json.field("reset", true);
  json.end_object();
  return json.take();
}

}  // namespace weir::door
