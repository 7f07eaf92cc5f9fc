#include "simulate/estimate_run.h"

#include <algorithm>
#include <utility>

#include "core/receipts.h"

namespace weir::simulate {

using engine::Outcome;
using engine::ReceiptOutcome;
using engine::ReceiptRequest;

namespace {

bool is_on_holds(const policy::TieredLimit& limit) noexcept {
  return std::ranges::any_of(
      limit.by_tier, [](const auto& numbers) { return numbers && numbers->algorithm() == Algorithm::concurrency; });
}

}  // namespace

bool has_holds(const policy::Ruleset& ruleset) noexcept {
  return std::ranges::any_of(ruleset.limits, [](const policy::CompiledLimit& limit) {
    return is_on_holds(limit.live) || (limit.candidate && is_on_holds(*limit.candidate));
  });
}

Result<std::unique_ptr<EstimateRun>> EstimateRun::create(std::shared_ptr<const policy::Ruleset> ruleset,
                                                         const Estimate& estimate, std::size_t memory_budget,
                                                         table::HashKey hash_key) {
  auto engine = engine::Engine::create(std::move(ruleset), {memory_budget, hash_key});
  if (!engine) return tl::unexpected(engine.error());
  return std::unique_ptr<EstimateRun>(new EstimateRun(std::move(*engine), estimate));
}

EstimateRun::EstimateRun(std::unique_ptr<engine::Engine> engine, const Estimate& estimate)
    : engine_(std::move(engine)),
      evaluator_(engine_->new_evaluator()),
      batch_(evaluator_->new_batch()),
      estimator_(estimate, engine_->bindings()->matcher().labels().size()) {
  report_.estimate = estimate.text();
  for (const policy::CompiledLimit& limit : engine_->bindings()->ruleset().limits) {
    OfLimit& of = limits_.emplace_back();
    of.report.name = limit.name;
    of.is_hold = is_on_holds(limit.live);
    of.takes_cost = !limit.cost.is_written && !limit.by_descriptor() && !of.is_hold;
    of.code = engine::ReceiptParts::name_code(limit.name);
  }
}

void EstimateRun::add(const Query& query, Instant at, std::optional<Duration> duration, const engine::Verdict& known) {
  settle_until(at);
  const Cost estimate = estimator_.of(known.label);
  Query asked = query;
  asked.cost = estimate;
  // Keeps the receipt open until after the request ends. Zero uses the lease of each limit.
  const Duration lasts = duration ? *duration + Duration{1} : Duration::zero();
  batch_->clear();
  batch_->add(asked, {.action = ReceiptRequest::Action::reserve, .id = {1, ++number_}, .lasts = lasts});
  (void)batch_->submit(at);
  const engine::Verdict& verdict = batch_->verdict(0);
  ++(verdict.admitted ? report_.admitted : report_.denied);
  if (verdict.admitted != known.admitted) ++(verdict.admitted ? report_.newly_admitted : report_.newly_denied);
  for (const Outcome& outcome : verdict.outcomes) {
    if (!verdict.admitted && !outcome.decision.admitted && outcome.standing == engine::Standing::live)
      ++limits_[outcome.limit].report.denied;
  }
  if (!verdict.admitted) return;
  for (const ReceiptOutcome& outcome : batch_->receipt_outcomes(0)) {
    if (outcome.result == core::ReceiptResult::not_kept) ++limits_[*outcome.limit].report.not_kept;
  }
  InFlight request{.begin = at,
                   .end = at + duration.value_or(Duration::zero()),
                   .number = number_,
                   .route = known.label,
                   .estimate = estimate,
                   .actual = query.cost.value_or(Cost{1}),
                   .receipt = {}};
  if (const engine::ReceiptParts* const receipt = batch_->receipt(0)) request.receipt = *receipt;
  if (!duration) keep_holds(request.receipt);
  in_flight_.push_back(std::move(request));
  std::ranges::push_heap(in_flight_, ends_later);
  if (in_flight_.size() > max_in_flight) has_too_many_ = true;
}

// Removes concurrency limits from the receipt, so that their leases expire instead of being settled.
void EstimateRun::keep_holds(engine::ReceiptParts& receipt) const {
  std::erase_if(receipt.parts, [&](const engine::ReceiptParts::Part& part) {
    return std::ranges::any_of(limits_, [&](const OfLimit& of) { return of.is_hold && of.code == part.limit; });
  });
}

void EstimateRun::settle_until(Instant until) {
  while (!in_flight_.empty() && in_flight_.front().end <= until) {
    std::ranges::pop_heap(in_flight_, ends_later);
    InFlight request = std::move(in_flight_.back());
    in_flight_.pop_back();
    settle(request);
  }
}

void EstimateRun::settle(InFlight& request) {
  estimator_.learn(request.route, request.actual);
  if (request.receipt.parts.empty()) return;
  const std::uint64_t estimate = request.estimate.units();
  const std::uint64_t actual = request.actual.units();
  if (actual > estimate) read_left(request);
  batch_->clear();
  batch_->add(request.receipt, {.action = ReceiptRequest::Action::settle, .actual = request.actual});
  (void)batch_->submit(request.end);
  const auto outcomes = batch_->receipt_outcomes(0);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ReceiptOutcome& outcome = outcomes[i];
    if (!outcome.limit || outcome.result != core::ReceiptResult::done) continue;
    OfLimit& of = limits_[*outcome.limit];
    if (!of.takes_cost) continue;
    of.report.reserved += estimate;
    of.report.spent += actual;
    if (actual > estimate) {
      of.report.overspent += actual - estimate - std::min(left_[i], actual - estimate);
    } else {
      of.report.given_back += estimate - actual;
      of.wasted += core::Wide{estimate - actual} * static_cast<std::uint64_t>((request.end - request.begin).count());
    }
  }
}

// Reads the remaining quota with an extension that ends before the receipt does, which changes nothing.
void EstimateRun::read_left(const InFlight& request) {
  batch_->clear();
  batch_->add(request.receipt, {.action = ReceiptRequest::Action::extend, .lasts = Duration{1}});
  (void)batch_->submit(request.end);
  left_.clear();
  for (const ReceiptOutcome& outcome : batch_->receipt_outcomes(0)) left_.push_back(outcome.decision.remaining);
}

EstimateReport EstimateRun::finish() {
  settle_until(Instant::max());
  for (const OfLimit& of : limits_) {
    if (!of.takes_cost) continue;
    report_.limits.push_back(of.report);
    report_.limits.back().wasted = static_cast<double>(of.wasted) / 1e6;
  }
  return std::move(report_);
}

}  // namespace weir::simulate
