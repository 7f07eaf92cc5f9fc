#include "engine/judge.h"

#include <algorithm>
#include <utility>

#include "engine/descriptor_judgement.h"
#include "engine/engine.h"

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

Judge::Judge(Engine& engine, std::shared_ptr<const Plan> plan) : engine_(engine) {
  enter(std::move(plan));
}

Judge::~Judge() {
  engine_.dismiss(*this);
}

void Judge::enter(std::shared_ptr<const Plan> plan) {
  auto counters = std::make_unique<Counters>(plan->rows());
  finder_.emplace(*plan);
  counters_ = std::move(counters);
  plan_ = std::move(plan);
}

Verdict Judge::judge(const Query& query, Instant now) {
  Verdict verdict;
  judge({&query, 1}, now, {&verdict, 1});
  return verdict;
}

void Judge::judge(std::span<const Query> queries, Instant now, std::span<Verdict> verdicts) {
  const std::lock_guard guard(busy_);
  used_ = 0;
  std::array<Instant, ahead> times;
  times.fill(now);
  for (std::size_t done = 0; done < queries.size(); done += ahead) {
    const std::size_t count = std::min(queries.size() - done, ahead);
    judge_piece(queries.subspan(done, count), times, verdicts.subspan(done, count));
  }
  point_to_outcomes(verdicts);
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

// The list may have moved as it grew.
void Judge::point_to_outcomes(std::span<Verdict> verdicts) noexcept {
  std::size_t first = 0;
  for (Verdict& verdict : verdicts) {
    verdict.outcomes = std::span(outcomes_).subspan(first, verdict.outcomes.size());
    first += verdict.outcomes.size();
  }
}

bool Judge::judge(std::string_view domain, std::span<const DescriptorAsk> asks, Instant now,
                  std::span<DescriptorStatus> statuses) {
  const std::lock_guard guard(busy_);
  const auto& domains = plan_->ruleset().domains;
  const auto found = std::ranges::find(domains, domain, &policy::Domain::name);
  if (found == domains.end()) {
    std::ranges::fill(statuses, DescriptorStatus{});
    return true;
  }
  DescriptorJudgement judgement(*plan_, *found, asks, statuses, descriptor_key_);
  const bool admitted = judgement.pass(now);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (judgement.limit_of(i) == Verdict::no_limit) continue;
    const PlannedLimit& limit = plan_->limits()[judgement.limit_of(i)];
    const bool own = statuses[i].decision.admitted;
    const Event event = limit.source->mode == policy::Mode::shadow ? (own ? Event::admitted : Event::shadow_denied)
                        : own                                      ? (admitted ? Event::admitted : Event::uncharged)
                                                                   : Event::denied;
    counters_->raise(limit.first_row + plan_->other_label(), event);
  }
  return admitted;
}

void Judge::judge_piece(std::span<const Query> queries, std::span<const Instant> times, std::span<Verdict> verdicts) {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    finder_->find(queries[i], coverages_[i]);
    for (const Covered& covered : coverages_[i].covered) {
      if (covered.live != nullptr) covered.live->table->prefetch(covered.ask.key);
    }
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Coverage& coverage = coverages_[i];
    const std::size_t first = used_;
    used_ += coverage.covered.size();
    if (used_ > outcomes_.size()) outcomes_.resize(2 * used_);
    const std::span outcomes = std::span(outcomes_).subspan(first, coverage.covered.size());
    verdicts[i] = Judgement(*plan_, coverage, queries[i].peek, times[i], outcomes, room_).pass();
    verdicts[i].outcomes = outcomes;
    verdicts[i].label = coverage.label;
    verdicts[i].route = plan_->labels()[coverage.label];
    verdicts[i].tier = coverage.caller.tier;
    if (!queries[i].peek) count(coverage, verdicts[i], times[i]);
  }
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
  }
}

}  // namespace weir::engine
