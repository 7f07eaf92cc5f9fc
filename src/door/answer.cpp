#include "door/answer.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "engine/until_more.h"
#include "wire/fields/delta_seconds.h"
#include "wire/problem.h"

namespace weir::door {
namespace {

using engine::Outcome;
using engine::Reason;
using engine::Verdict;

const Outcome* deciding(const Verdict& verdict) noexcept {
  const auto found = std::ranges::find_if(verdict.outcomes, [&](const Outcome& outcome) {
    return outcome.limit == verdict.limit && outcome.standing == engine::Standing::live;
  });
  return found == verdict.outcomes.end() ? nullptr : &*found;
}

// What a limit says that has no numbers to tell.
std::string_view sentence(Reason reason) noexcept {
  if (reason == Reason::banned) return banned_sentence;
  if (reason == Reason::too_many_limits) return "More limits cover this request than can be judged together.";
  if (reason == Reason::store_away)
    return "Its limit cannot be looked up at present, and lets nothing through meanwhile.";
  return {};
}

wire::ProblemType type_of(Reason reason) noexcept {
  if (engine::is_outright(reason)) return wire::ProblemType::forbidden;
  return reason == Reason::blocked ? wire::ProblemType::abnormal_usage_detected : wire::ProblemType::quota_exceeded;
}

}  // namespace

unsigned status_of(const Verdict& verdict) noexcept {
  if (verdict.admitted) return 200;
  return engine::is_outright(verdict.reason) ? 403 : 429;
}

std::optional<wire::AnswerFields> answer_fields(const Ruling& ruling, const Verdict& verdict) {
  const Outcome* const outcome = deciding(verdict);
  if (outcome == nullptr) return {};
  const engine::PlannedLimit& limit = ruling.plan().limits()[verdict.limit];
  const auto& numbers = limit.source->live.by_tier[verdict.tier];
  if (!numbers) return {};
  wire::AnswerFields fields;
  fields.policy = limit.source->name;
  fields.quota = verdict.decision.limit;
  fields.window = engine::time_to_fill(*numbers);
  fields.remaining = verdict.decision.remaining;
  fields.until_more = engine::until_more(ruling.plan(), *outcome, verdict.tier, verdict.at);
  fields.reset_after = verdict.decision.reset_after;
  if (!verdict.admitted) fields.retry_after = verdict.retry_after;
  return fields;
}

std::string_view limit_name(const Ruling& ruling, const Verdict& verdict) noexcept {
  if (verdict.limit == Verdict::no_limit) return {};
  return ruling.plan().limits()[verdict.limit].source->name;
}

std::string missing_identity(const Ruling& ruling, const Verdict& verdict) {
  std::string text;
  for (const auto& parts : ruling.plan().limits()[verdict.limit].source->consumer_key.alternatives) {
    if (!text.empty()) text += " or ";
    for (const policy::KeyPart& part : parts) text += (&part == parts.data() ? "" : "+") + text_of(part);
  }
  return text;
}

void append_denial(std::string& out, const Ruling& ruling, const Verdict& verdict) {
  std::array<std::string_view, table::most_together> names;
  std::size_t count = 0;
  if (verdict.limit != Verdict::no_limit) names[count++] = limit_name(ruling, verdict);
  for (const Outcome& outcome : verdict.outcomes) {
    const bool denies = outcome.standing == engine::Standing::live && !outcome.decision.admitted;
    if (denies && outcome.limit != verdict.limit && count < names.size()) {
      names[count++] = ruling.plan().limits()[outcome.limit].source->name;
    }
  }
  wire::Problem problem{.type = type_of(verdict.reason),
                        .violated_policies = std::span(names).first(count),
                        .limit = verdict.decision.limit,
                        .retry_after = verdict.retry_after,
                        .reset_at = wire::later(verdict.at, verdict.decision.reset_after),
                        .detail = sentence(verdict.reason)};
  if (verdict.reason != Reason::key_missing) return wire::append_problem(out, problem);
  const std::string missing = missing_identity(ruling, verdict);
  const std::string detail = "This request has no " + missing + ", and without it its limit lets nothing through.";
  problem.missing = missing;
  problem.detail = detail;
  wire::append_problem(out, problem);
}

}  // namespace weir::door
