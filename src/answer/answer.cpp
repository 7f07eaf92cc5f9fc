#include "answer/answer.h"

#include <algorithm>
#include <array>

#include "answer/problem.h"
#include "core/arithmetic.h"
#include "core/calendar.h"
#include "core/instant.h"
#include "table/together.h"
#include "wire/fields/delta_seconds.h"

namespace weir::answer {
namespace {

using core::Wide;
using engine::DescriptorStatus;
using engine::Outcome;
using engine::Reason;
using engine::Verdict;

// The detail of a denial without numbers; empty if it has numbers.
std::string_view fixed_detail(Reason reason) noexcept {
  if (reason == Reason::banned) return "Requests of this kind are not allowed.";
  if (reason == Reason::blocked_by_operator) return "This client is blocked.";
  if (reason == Reason::too_many_limits) return "More limits cover this request than can be evaluated together.";
  if (reason == Reason::reserve_too_large) return "The reservation exceeds the limit's max_reserve: reserve less.";
  if (reason == Reason::needs_receipt) return "This is a concurrency limit: reserve first, and release when done.";
  if (reason == Reason::store_unavailable)
    return "The limit's store is unavailable, and the limit is configured to deny requests until it is back.";
  return {};
}

ProblemType type_of(Reason reason) noexcept {
  if (engine::is_outright(reason)) return ProblemType::forbidden;
  return reason == Reason::blocked ? ProblemType::abnormal_usage_detected : ProblemType::quota_exceeded;
}

// The time from empty to full, rounded up to microseconds. For a window, its length; for a calendar, the length of the
// window that the decision was made in.
Duration time_to_fill(const Limit& limit, const Decision& decision) noexcept {
  if (const core::Calendar* calendar = limit.calendar()) {
    const core::WindowEdges edges = calendar->around(core::micros(decision.charged_at));
    return Duration{edges.end - edges.start};
  }
  if (limit.algorithm() >= Algorithm::fixed_window) return limit.rate().per;
  const auto per = static_cast<std::uint64_t>(limit.rate().per.count());
  return Duration{static_cast<std::int64_t>(core::multiply_divide_ceil(limit.capacity(), per, limit.rate().count))};
}

bool is_tighter(const DescriptorStatus& one, const DescriptorStatus& other) noexcept {
  if (one.admitted != other.admitted) return !one.admitted;
  const Decision& a = one.decision;
  const Decision& b = other.decision;
  if (one.admitted) return Wide{a.remaining} * b.limit < Wide{b.remaining} * a.limit;
  if (!a.retry_after || !b.retry_after) return !a.retry_after && b.retry_after;
  return *a.retry_after > *b.retry_after;
}

}  // namespace

unsigned status_of(const Verdict& verdict) noexcept {
  if (verdict.admitted) return 200;
  return engine::is_outright(verdict.reason) ? 403 : 429;
}

std::string_view limit_name(const policy::Ruleset& ruleset, const Verdict& verdict) noexcept {
  return verdict.limit == Verdict::no_limit ? std::string_view() : ruleset.limits[verdict.limit].name;
}

std::string missing_identity(const policy::Ruleset& ruleset, const Verdict& verdict) {
  std::string text;
  for (const auto& parts : ruleset.limits[verdict.limit].consumer_key.alternatives) {
    if (!text.empty()) text += " or ";
    for (const policy::KeyPart& part : parts) text += (&part == parts.data() ? "" : "+") + text_of(part);
  }
  return text;
}

std::string_view name_of(core::ReceiptResult result) noexcept {
  constexpr std::array<std::string_view, 6> names{"unanswered",      "done",  "repeated",
                                                  "id_not_recorded", "ended", "unknown"};
  return names[static_cast<std::size_t>(result)];
}

std::optional<wire::AnswerFields> answer_fields(const policy::Ruleset& ruleset, const Verdict& verdict) {
  if (verdict.limit == Verdict::no_limit || engine::is_outright(verdict.reason)) return {};
  const policy::CompiledLimit& limit = ruleset.limits[verdict.limit];
  const Limit* const numbers = engine::numbers_of(ruleset, verdict);
  if (numbers == nullptr) return {};
  wire::AnswerFields fields;
  fields.policy = limit.name;
  fields.quota = verdict.decision.limit;
  fields.remaining = verdict.decision.remaining;
  if (!verdict.admitted) fields.retry_after = verdict.retry_after;
  fields.is_concurrency = numbers->algorithm() == Algorithm::concurrency;
  if (fields.is_concurrency) return fields;
  fields.window = time_to_fill(*numbers, verdict.decision);
  fields.until_more = verdict.decision.more_after;
  fields.reset_after = verdict.decision.reset_after;
  return fields;
}

void append_denial(std::string& out, const Denial& denial) {
  Problem problem{.type = type_of(denial.reason),
                  .violated_policies = denial.limits,
                  .limit = denial.decision.limit,
                  .retry_after = denial.retry_after,
                  .reset_at = wire::later(denial.at, denial.decision.reset_after),
                  .detail = fixed_detail(denial.reason)};
  if (denial.reason == Reason::blocked_by_operator && denial.retry_after) {
    const std::string detail =
        "This client is blocked. Try again in " + std::to_string(wire::seconds_up(*denial.retry_after)) + " seconds.";
    problem.detail = detail;
    return append_problem(out, problem);
  }
  if (denial.reason != Reason::key_missing) return append_problem(out, problem);
  const std::string detail = "This request has no " + std::string(denial.missing) + ", which its limit requires.";
  problem.missing = denial.missing;
  problem.detail = detail;
  append_problem(out, problem);
}

void append_denial(std::string& out, const policy::Ruleset& ruleset, const Verdict& verdict) {
  std::array<std::string_view, table::max_group_size> names;
  std::size_t count = 0;
  if (verdict.limit != Verdict::no_limit) names[count++] = limit_name(ruleset, verdict);
  for (const Outcome& outcome : verdict.outcomes) {
    const bool denies = outcome.standing == engine::Standing::live && !outcome.decision.admitted;
    if (denies && outcome.limit != verdict.limit && count < names.size()) {
      names[count++] = ruleset.limits[outcome.limit].name;
    }
  }
  const std::string missing = verdict.reason == Reason::key_missing ? missing_identity(ruleset, verdict) : "";
  append_denial(out, Denial{.reason = verdict.reason,
                            .limits = std::span(names).first(count),
                            .decision = verdict.decision,
                            .retry_after = verdict.retry_after,
                            .at = verdict.at,
                            .missing = missing});
}

const DescriptorStatus* DescriptorVerdict::tightest() const noexcept {
  const DescriptorStatus* found = nullptr;
  for (const DescriptorStatus& status : statuses) {
    if (status.kind != DescriptorStatus::Kind::limited) continue;
    if (admitted && !status.admitted) continue;  // an exhausted quota that another quota replaced
    if (found == nullptr || is_tighter(status, *found)) found = &status;
  }
  return found;
}

std::string_view DescriptorVerdict::limit_name(const DescriptorStatus& status) const noexcept {
  return status.name.empty() ? domain : status.name;
}

Reason reason_of(const DescriptorStatus& tightest) noexcept {
  return tightest.numbers.limit == 0 ? Reason::banned : Reason::exceeded;
}

std::optional<wire::AnswerFields> answer_fields(const DescriptorVerdict& verdict) {
  const DescriptorStatus* const status = verdict.tightest();
  if (status == nullptr) return {};
  wire::AnswerFields fields;
  fields.policy = verdict.limit_name(*status);
  fields.quota = status->decision.limit;
  fields.window = status->numbers.window;
  fields.remaining = status->decision.remaining;
  if (status->decision.remaining < status->decision.limit) fields.until_more = status->decision.reset_after;
  fields.reset_after = status->decision.reset_after;
  if (!verdict.admitted) fields.retry_after = status->decision.retry_after;
  return fields;
}

void append_denial(std::string& out, const DescriptorVerdict& verdict) {
  const DescriptorStatus* const tightest = verdict.tightest();
  if (tightest == nullptr) return;
  std::array<std::string_view, table::max_group_size> names;
  std::size_t count = 0;
  names[count++] = verdict.limit_name(*tightest);
  for (const DescriptorStatus& status : verdict.statuses) {
    const std::string_view name = verdict.limit_name(status);
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
    if (status.admitted || count == names.size()) continue;
    if (std::find(names.begin(), end, name) == end) names[count++] = name;
  }
  append_denial(out, Denial{.reason = reason_of(*tightest),
                            .limits = std::span(names).first(count),
                            .decision = tightest->decision,
                            .retry_after = tightest->decision.retry_after,
                            .at = verdict.at});
}

}  // namespace weir::answer
