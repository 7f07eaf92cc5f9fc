#include "weir/verdict.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "answer/answer.h"
#include "answer/problem.h"
#include "embedded/guarded.h"
#include "embedded/verdict_access.h"
#include "policy/ruleset.h"
#include "wire/fields/answer_fields.h"

namespace weir {
namespace {

bool is_evaluated(Reason reason) noexcept {
  return reason != Reason::not_evaluated && reason != Reason::no_memory;
}

std::string unevaluated_problem() {
  std::string body;
  answer::append_problem(body, {.type = answer::ProblemType::temporary_reduced_capacity,
                                .detail = "This request could not be evaluated and is denied."});
  return body;
}

}  // namespace

unsigned Verdict::status() const noexcept {
  if (admitted) return 200;
  if (!is_evaluated(reason)) return 503;
  return engine::is_outright(reason) ? 403 : 429;
}

std::string Verdict::problem() const {
  if (admitted) return {};
  return embedded::guarded(
      [&]() -> std::string {
        if (!is_evaluated(reason)) return unevaluated_problem();
        std::vector<std::string_view> denying;
        denying.reserve(1 + also_denying_.size());
        if (!limit.empty()) denying.push_back(limit);
        denying.insert(denying.end(), also_denying_.begin(), also_denying_.end());
        std::string missing;
        if (reason == Reason::key_missing) {
          engine::Verdict lacking;
          lacking.limit = number_;
          missing = answer::missing_identity(static_cast<const match::Matcher*>(names_.get())->ruleset(), lacking);
        }
        std::string body;
        answer::append_denial(body, answer::Denial{.reason = reason,
                                                   .limits = denying,
                                                   .decision = decision,
                                                   .retry_after = retry_after,
                                                   .at = at,
                                                   .missing = missing});
        return body;
      },
      std::string());
}

namespace embedded {

void VerdictAccess::fill(Verdict& verdict, const engine::EvaluationBatch& batch, std::size_t i, const Names& names) {
  const engine::Verdict& evaluated = batch.verdict(i);
  const policy::Ruleset& ruleset = names->ruleset();
  verdict.admitted = evaluated.admitted;
  verdict.reason = evaluated.reason;
  verdict.limit = answer::limit_name(ruleset, evaluated);
  verdict.decision = evaluated.decision;
  verdict.retry_after = evaluated.retry_after;
  verdict.delay = evaluated.delay;
  verdict.route = evaluated.route;
  verdict.tier = evaluated.tier < ruleset.tiers.names.size() ? std::string_view(ruleset.tiers.names[evaluated.tier])
                                                             : std::string_view();
  verdict.at = evaluated.at;
  verdict.number_ = evaluated.limit;
  const auto fields = answer::answer_fields(ruleset, evaluated);
  verdict.has_fields_ = fields.has_value();
  verdict.is_concurrency_ = fields && fields->is_concurrency;
  verdict.window_ = fields ? fields->window : Duration::zero();
  verdict.also_denying_.clear();
  verdict.names_ = names;
  if (evaluated.admitted) return;
  for (const engine::Outcome& outcome : evaluated.outcomes) {
    const bool denies = outcome.standing == engine::Standing::live && !outcome.decision.admitted;
    if (denies && outcome.limit != evaluated.limit) verdict.also_denying_.push_back(ruleset.limits[outcome.limit].name);
  }
}

void VerdictAccess::fill_descriptors(Verdict& verdict, const engine::EvaluationBatch& batch, std::size_t i,
                                     const Names& names) {
  const policy::Ruleset& ruleset = names->ruleset();
  answer::DescriptorVerdict evaluated(batch, i);
  // The policy's copy of the name outlives the caller's.
  const auto domain = std::ranges::find(ruleset.domains, evaluated.domain, &policy::Domain::name);
  evaluated.domain = domain == ruleset.domains.end() ? std::string_view() : std::string_view(domain->name);
  verdict = Verdict();
  verdict.admitted = evaluated.admitted;
  verdict.reason = Reason::uncovered;
  verdict.at = evaluated.at;
  verdict.names_ = names;
  const engine::DescriptorStatus* const tightest = evaluated.tightest();
  if (tightest == nullptr) {
    if (!evaluated.admitted) verdict.reason = Reason::too_many_limits;
    return;
  }
  verdict.reason = evaluated.admitted ? Reason::within : answer::reason_of(*tightest);
  verdict.limit = evaluated.limit_name(*tightest);
  verdict.decision = tightest->decision;
  if (!evaluated.admitted) verdict.retry_after = tightest->decision.retry_after;
  const auto fields = answer::answer_fields(evaluated);
  verdict.has_fields_ = fields.has_value();
  if (fields) {
    verdict.window_ = fields->window;
    verdict.decision.more_after = fields->until_more;
  }
  for (const engine::DescriptorStatus& status : evaluated.statuses) {
    const std::string_view name = evaluated.limit_name(status);
    if (status.admitted || name == verdict.limit) continue;
    if (std::ranges::find(verdict.also_denying_, name) == verdict.also_denying_.end()) {
      verdict.also_denying_.push_back(name);
    }
  }
}

Verdict VerdictAccess::no_memory() noexcept {
  Verdict verdict;
  verdict.reason = Reason::no_memory;
  return verdict;
}

}  // namespace embedded

HeaderFields::HeaderFields(const Verdict& verdict, const FieldChoice& choice) noexcept {
  if (!verdict.has_fields_) return;
  wire::AnswerFields answer{.policy = verdict.limit,
                            .quota = verdict.decision.limit,
                            .is_concurrency = verdict.is_concurrency_,
                            .window = verdict.window_,
                            .remaining = verdict.decision.remaining};
  if (!verdict.is_concurrency_) {
    answer.until_more = verdict.decision.more_after;
    answer.reset_after = verdict.decision.reset_after;
  }
  if (!verdict.admitted) answer.retry_after = verdict.retry_after;
  wire::for_each_field(answer, choice, verdict.at,
                       [this](std::string_view name, std::string_view value) { add(name, value); });
  if (verdict.reason == Reason::warned) add(answer::warning_field, verdict.limit);
}

// The sizes of all fields are bounded so that they fit; the bounds check is only a safeguard.
void HeaderFields::add(std::string_view name, std::string_view value) noexcept {
  if (count_ == fields_.size() || value.size() > text_.size() - used_) return;
  char* const copy = text_.data() + used_;
  if (!value.empty()) std::memcpy(copy, value.data(), value.size());
  used_ += value.size();
  fields_[count_++] = {name, {copy, value.size()}};
}

}  // namespace weir
