#include "engine/judge.h"

#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "engine/hearing.h"
#include "engine/judge_shared.h"

namespace weir::engine {
namespace {

Event event_of(const Outcome& outcome, const Verdict& verdict) noexcept {
  if (outcome.standing == Standing::shadow) {
    return outcome.decision.admitted ? Event::admitted : Event::shadow_denied;
  }
  if (outcome.decision.admitted) return verdict.admitted ? Event::admitted : Event::uncharged;
  if (verdict.admitted) return Event::warned;
  return verdict.reason == Reason::blocked ? Event::blocked : Event::denied;
}

Event event_of(Divergence divergence) noexcept {
  switch (divergence) {
    case Divergence::newly_denied:
      return Event::candidate_newly_denied;
    case Divergence::newly_admitted:
      return Event::candidate_newly_admitted;
    case Divergence::agrees:
      break;
  }
  return Event::candidate_agrees;
}

}  // namespace

Judge::Judge(Engine& engine, std::shared_ptr<const Plan> plan, Witness* witness, const SharedAccess* shared)
    : engine_(engine), witness_(witness) {
  // NOLINTNEXTLINE(modernize-make-unique): an aggregate that cannot be moved
  if (shared != nullptr) shared_.reset(new Shared{shared->store, {*shared->clock, engine.owes_}});
  enter(std::move(plan));
}

Judge::~Judge() {
  engine_.dismiss(*this);
}

void Judge::enter(std::shared_ptr<const Plan> plan) {
  auto counters = std::make_unique<Counters>(plan->rows());
  finder_.emplace(*plan);
  named_finder_.emplace(*plan);
  counters_ = std::move(counters);
  plan_ = std::move(plan);
  if (witness_ != nullptr) witness_->entered(*plan_);
}

Verdict Judge::judge(const Query& query, Instant now) {
  Verdict verdict;
  judge({&query, 1}, now, {&verdict, 1});
  return verdict;
}

void Judge::judge(std::span<const Query> queries, Instant now, std::span<Verdict> verdicts) {
  const std::lock_guard guard(busy_);
  if (witness_ != nullptr) witness_->begin();
  used_ = 0;
  std::array<Instant, ahead> times;
  times.fill(now);
  for (std::size_t done = 0; done < queries.size(); done += ahead) {
    const std::size_t count = std::min(queries.size() - done, ahead);
    judge_piece(queries.subspan(done, count), times, verdicts.subspan(done, count));
  }
  point_to_outcomes(verdicts);
  if (witness_ != nullptr) witness_->judged(*this, queries, verdicts, now);
}

void Judge::judge(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts) {
  const std::lock_guard guard(busy_);
  used_ = 0;
  for (std::size_t done = 0; done < queries.size(); done += ahead) {
    const std::size_t count = std::min(queries.size() - done, ahead);
    judge_piece(queries.subspan(done, count), times.subspan(done, count), verdicts.subspan(done, count));
  }
  point_to_outcomes(verdicts);
}

void Judge::point_to_outcomes(std::span<Verdict> verdicts) noexcept {
  std::size_t first = 0;
  for (Verdict& verdict : verdicts) point_to_outcomes(verdict, first);
}

void Judge::point_to_outcomes(Verdict& verdict, std::size_t& first) noexcept {
  verdict.outcomes = std::span(outcomes_).subspan(first, verdict.outcomes.size());
  first += verdict.outcomes.size();
}

bool Judge::judge(std::string_view domain, std::span<const DescriptorAsk> asks, Instant now,
                  std::span<DescriptorStatus> statuses) {
  DescriptorCase only{domain, asks, statuses};
  judge({&only, 1}, now);
  return only.admitted;
}

void Judge::judge(std::span<DescriptorCase> cases, Instant now) {
  const std::lock_guard guard(busy_);
  if (witness_ != nullptr) witness_->begin();
  descriptor_verdicts_.clear();
  const auto& domains = plan_->ruleset().domains;
  for (DescriptorCase& asked : cases) {
    const auto found = std::ranges::find(domains, asked.domain, &policy::Domain::name);
    if (found == domains.end()) {
      std::ranges::fill(asked.statuses, DescriptorStatus{});
      asked.admitted = true;
      continue;
    }
    asked.admitted = judge_case(*found, asked, now);
    descriptor_verdicts_.push_back({asked.domain, asked.asks, asked.statuses, asked.admitted});
  }
  if (witness_ != nullptr) witness_->judged(*this, descriptor_verdicts_, now);
}

bool Judge::judge_case(const policy::Domain& domain, const DescriptorCase& asked, Instant now) {
  DescriptorJudgement judgement(*plan_, domain, asked.asks, asked.statuses, descriptor_room_);
  const bool admitted = judgement.pass(now);
  for (std::size_t i = 0; i < asked.asks.size(); ++i) {
    count_descriptor(*plan_, judgement.limit_of(i), asked.asks[i], asked.statuses[i], admitted);
  }
  return admitted;
}

void Judge::count_descriptor(const Plan& plan, std::uint32_t limit, const DescriptorAsk& ask,
                             const DescriptorStatus& status, bool admitted) noexcept {
  if (limit == Verdict::no_limit || ask.hits == Cost{0}) return;  // a look is not counted
  const PlannedLimit& planned = plan.limits()[limit];
  const bool own = status.decision.admitted;
  const Event event = planned.source->mode == policy::Mode::shadow ? (own ? Event::admitted : Event::shadow_denied)
                      : own                                        ? (admitted ? Event::admitted : Event::uncharged)
                                                                   : Event::denied;
  counters_->raise(planned.first_row + plan.other_label(), event);
}

std::shared_ptr<Hearing> Judge::new_hearing() {
  return std::make_shared<Hearing>(*this);
}

std::string_view Judge::consumer_of(const Query& query, const Outcome& outcome) {
  return finder_->consumer_of(query, identify(plan_->ruleset(), query), outcome.limit, outcome.route);
}

void Judge::judge_piece(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts) {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    finder_->find(queries[i], coverages_[i]);
    coverages_[i].prefetch();
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    judge_found(coverages_[i], queries[i].peek, times[i], verdicts[i]);
  }
}

void Judge::judge_found(const Coverage& coverage, bool peek, Instant now, Verdict& verdict) {
  const std::size_t first = used_;
  used_ += coverage.covered.size();
  if (used_ > outcomes_.size()) outcomes_.resize(2 * used_);
  const std::span outcomes = std::span(outcomes_).subspan(first, coverage.covered.size());
  verdict = Judgement(*plan_, coverage, peek, now, outcomes, room_).pass();
  verdict.outcomes = outcomes;
  verdict.label = coverage.label;
  verdict.route = plan_->labels()[coverage.label];
  verdict.tier = coverage.caller.tier;
  verdict.at = now;
  if (!peek) count(coverage, verdict, now);
}

void Judge::count(const Coverage& coverage, const Verdict& verdict, Instant now) noexcept {
  if (coverage.caller.ignored_headers) counters_->ignored_headers.raise();
  if (coverage.caller.unknown_tier) counters_->unknown_tiers.raise();
  if (verdict.reason == Reason::uncovered) counters_->uncovered.raise();
  for (std::size_t i = 0; i < verdict.outcomes.size(); ++i) {
    const Outcome& outcome = verdict.outcomes[i];
    const PlannedLimit& limit = plan_->limits()[outcome.limit];
    const std::size_t row = limit.first_row + outcome.route;
    const std::uint64_t consumer = outcome.consumer.value;
    counters_->raise(row, event_of(outcome, verdict));
    if (coverage.covered[i].is_shared) counters_->raise(row, Event::shared);
    limit.consumers->add(consumer, now);
    if (!outcome.candidate) continue;
    const Divergence divergence = outcome.divergence();
    counters_->raise(row, event_of(divergence));
    if (divergence == Divergence::newly_denied) limit.diverging->newly_denied.add(consumer);
    if (divergence == Divergence::newly_admitted) limit.diverging->newly_admitted.add(consumer);
  }
  for (const auto& exempt : coverage.exempt) {
    const std::size_t row = plan_->limits()[exempt.limit].first_row + exempt.route;
    if (exempt.why == Exemption::key_missing) counters_->raise(row, Event::skipped);
    if (exempt.why == Exemption::unlimited) counters_->raise(row, Event::unlimited);
    if (exempt.why == Exemption::banned) {
      const bool is_shadow = plan_->limits()[exempt.limit].source->mode == policy::Mode::shadow;
      counters_->raise(row, is_shadow ? Event::shadow_denied : Event::denied);
    }
  }
}

}  // namespace weir::engine
