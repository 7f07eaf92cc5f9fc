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
void write_figures(const engine::Plan& plan, const Verdict& verdict, JsonWriter& json) {
  const engine::Outcome* const outcome = outcome_of(plan, verdict);
  if (outcome == nullptr) {
    for (const auto* name : {"mode", "quota", "remaining", "reset_after", "more_after"}) json.null(name);
    return;
  }
  json.field("mode", name_of(plan.limits()[outcome->limit].source->mode));
  json.field("quota", outcome->decision.limit);
  json.field("remaining", outcome->decision.remaining);
  json.field("reset_after", outcome->decision.reset_after);
  json.field("more_after", engine::until_more(plan, *outcome, verdict.tier, verdict.at));
}

}  // namespace

std::array<NamedAsk, 2> ConsumerTask::looks() const noexcept {
  NamedAsk next = named();
  next.tier = tier_;
  next.peek = true;
  NamedAsk present = next;
  present.cost = Cost{0};  // what a decision leaves is told as if it were charged
  return {next, present};
}

Result<std::string> ConsumerTask::judge(Desk& desk) const {
  engine::Judge& judge = desk.judge();
  const auto hold = judge.hold();
  if (kind_ == Kind::reset) {
    if (const auto forgotten = judge.reset(named(), desk.now()); !forgotten) return tl::unexpected(forgotten.error());
    return done(judge.consumer_of(named()));
  }
  std::array<Result<Verdict>, 2> verdicts;
  judge.judge(looks(), desk.now(), verdicts);
  const auto& [next, present] = verdicts;
  if (!next) return tl::unexpected(next.error());
  return inspection(judge.plan(), *next, *present, judge.consumer_of(named()));
}

void ConsumerTask::ask(engine::Hearing& hearing) const {
  if (kind_ == Kind::reset) return hearing.add_reset(named());
  for (const NamedAsk& look : looks()) hearing.add(look);
}

Result<std::string> ConsumerTask::answer(const engine::Hearing& hearing) const {
  if (kind_ == Kind::reset) {
    if (const auto& forgotten = hearing.reset(0); !forgotten) return tl::unexpected(forgotten.error());
    return done(hearing.consumer(0));
  }
  if (const auto& next = hearing.verdict(0); !next) return tl::unexpected(next.error());
  return inspection(hearing.plan(), *hearing.verdict(0), *hearing.verdict(1), hearing.consumer(0));
}

unsigned ConsumerTask::status_of_error(Desk& desk) const {
  const auto hold = desk.judge().hold();
  const engine::Plan& plan = desk.judge().plan();
  if (!plan.find_limit(limit_)) return 404;
  const bool is_read = kind_ == Kind::reset && engine::NamedFinder(plan).read(named()).has_value();
  if (!is_read) return 400;
  return desk.is_shared() ? 503 : 409;  // the store is away; or the state is others' too
}

std::string ConsumerTask::inspection(const engine::Plan& plan, const Verdict& next, const Verdict& present,
                                     std::string_view consumer) const {
  JsonWriter json;
  json.begin_object();
  json.field("limit", limit_);
  json.field("tier", plan.ruleset().tiers.names[next.tier]);
  write_next(next, outcome_of(plan, next), json);
  write_figures(plan, present, json);
  json.field("consumer", engine::describe_consumer(consumer));
  json.end_object();
  return json.take();
}

std::string ConsumerTask::done(std::string_view consumer) const {
  JsonWriter json;
  json.begin_object();
  json.field("limit", limit_);
  json.field("consumer", engine::describe_consumer(consumer));
  json.field("reset", true);
  json.end_object();
  return json.take();
}

}  // namespace weir::door
