#include "observe/recorder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/arithmetic.h"
#include "engine/bindings.h"
#include "observe/log_line.h"
#include "table/siphash.h"

namespace weir::observe {

using engine::DescriptorStatus;
using engine::EvaluationBatch;
using engine::Outcome;
using engine::Verdict;

namespace {

using Kind = EvaluationBatch::Kind;

bool is_peek(const engine::DescriptorQuery& ask) noexcept {
  return ask.hits == Cost{0};
}

// False for resets, reports and descriptors of an unknown domain.
bool is_evaluated(const EvaluationBatch& batch, std::size_t i) noexcept {
  const Kind kind = batch.kind(i);
  if (kind == Kind::descriptors) {
    return batch.is_known_domain(i) && batch.receipt_request(i).action != engine::ReceiptRequest::Action::report;
  }
  return kind == Kind::query || kind == Kind::named;
}

// False for peeks and errors too.
bool is_counted(const EvaluationBatch& batch, std::size_t i) noexcept {
  if (batch.error(i) != nullptr || !is_evaluated(batch, i)) return false;
  switch (batch.kind(i)) {
    case Kind::query:
      return !batch.query(i).peek;
    case Kind::named:
      return !batch.named(i).peek;
    case Kind::descriptors:
      return !std::ranges::all_of(batch.asks(i), is_peek);
    case Kind::reset:
    case Kind::reset_descriptor:
    case Kind::report:
    case Kind::report_named:
    case Kind::receipt:
      break;
  }
  return false;
}

// Returns nothing if the operation changed nothing.
std::optional<ReceiptEvent> event_of(engine::ReceiptRequest::Action action, core::ReceiptResult result) noexcept {
  using Action = engine::ReceiptRequest::Action;
  const bool is_report = action == Action::report;
  if (result == core::ReceiptResult::not_kept)
    return is_report ? ReceiptEvent::id_not_recorded : ReceiptEvent::not_kept;
  if (result == core::ReceiptResult::ended) return ReceiptEvent::ended;
  if (result != core::ReceiptResult::done) return std::nullopt;
  switch (action) {
    case Action::reserve:
    case Action::hold:
      return ReceiptEvent::reserved;
    case Action::report:
      return ReceiptEvent::reported;
    case Action::settle:
      return ReceiptEvent::settled;
    case Action::release:
      return ReceiptEvent::released;
    case Action::extend:
      return ReceiptEvent::extended;
    case Action::give_back:  // refunds without a receipt
      break;
  }
  return std::nullopt;
}

}  // namespace

std::chrono::nanoseconds Recorder::steady_time() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch();
}

Recorder::Recorder(const ConsumerNames& names, DecisionLog* log, std::uint64_t seed, Stopwatch stopwatch)
    : names_(names), log_(log), stopwatch_(stopwatch), sampler_(log == nullptr ? Sampling{} : log->sampling(), seed) {}

void Recorder::bindings_changed(const engine::Bindings& bindings) {
  const std::lock_guard guard(mutex_);
  by_number_.clear();
  for (const engine::BoundLimit& limit : bindings.limits()) {
    by_number_.push_back(&*limits_.try_emplace(limit.source->name).first);
  }
}

void Recorder::evaluated(const EvaluationBatch& batch, std::chrono::nanoseconds started, Instant now) {
  std::uint64_t all = 0;
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    all += is_evaluated(batch, i) ? 1U : 0U;
    counted += is_counted(batch, i) ? 1U : 0U;
  }
  record_time(started, all, counted);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!batch.receipt_outcomes(i).empty()) record_receipts(batch, i);
    if (!is_counted(batch, i)) continue;
    if (batch.kind(i) == Kind::descriptors) {
      record_descriptors({batch, i, now});
    } else {
      record_verdict({batch, i, now});
    }
  }
}

void Recorder::record_receipts(const EvaluationBatch& batch, std::size_t i) noexcept {
  if (batch.error(i) != nullptr) return;
  const engine::ReceiptRequest::Action action = batch.receipt_request(i).action;
  for (const engine::ReceiptOutcome& outcome : batch.receipt_outcomes(i)) {
    if (!outcome.limit) continue;
    LimitFigures& figures = by_number_[*outcome.limit]->second;
    if (const auto event = event_of(action, outcome.result)) figures.receipts[static_cast<std::size_t>(*event)].raise();
    if (outcome.lost > 0) figures.lost_units.raise(outcome.lost);
  }
}

// Divides the duration of a batch evenly among its requests.
void Recorder::record_time(std::chrono::nanoseconds started, std::uint64_t all, std::uint64_t counted) noexcept {
  if (counted == 0) return;
  const auto passed = static_cast<std::uint64_t>(std::max(stopwatch_() - started, std::chrono::nanoseconds{0}).count());
  durations_.add_shared(counted == all ? passed : core::multiply_divide_floor(passed, counted, all), counted);
  batches_.add(counted);
}

// Rounds up, so that the bounds of the buckets are exact.
void Recorder::record_headroom(std::uint32_t limit, const Decision& decision) noexcept {
  if (decision.limit == 0) return;  // the limit was not asked
  by_number_[limit]->second.headroom.add(core::multiply_divide_ceil(decision.remaining, 1'000'000, decision.limit));
}

void Recorder::record_descriptors(const Evaluated& evaluated) {
  const auto asks = evaluated.batch.asks(evaluated.number);
  const auto statuses = evaluated.batch.statuses(evaluated.number);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const DescriptorStatus& status = statuses[i];
    if (status.kind != DescriptorStatus::Kind::limited || is_peek(asks[i])) continue;
    if (status.limit) record_headroom(*status.limit, status.decision);
    if (!status.admitted) record_denial(asks[i], status, evaluated.now);
  }
}

void Recorder::record_verdict(const Evaluated& evaluated) {
  const Verdict& verdict = evaluated.batch.verdict(evaluated.number);
  for (const Outcome& outcome : verdict.outcomes) record_headroom(outcome.limit, outcome.decision);
  if (!verdict.admitted) [[unlikely]]
    record_denial(evaluated);
}

void Recorder::record_denial(const Evaluated& evaluated) {
  const Verdict& verdict = evaluated.batch.verdict(evaluated.number);
  const match::Matched& matched = evaluated.batch.matched(evaluated.number);
  for (std::size_t i = 0; i < verdict.outcomes.size(); ++i) {
    const Outcome& outcome = verdict.outcomes[i];
    if (outcome.decision.admitted || outcome.standing == engine::Standing::shadow) continue;
    denied_.count(by_number_[outcome.limit]->first, outcome.consumer.value, evaluated.now,
                  [&](std::string& name) { names_.append(name, matched.key(i)); });
  }
  if (log_ != nullptr && sampler_.takes() && log_->has_room(evaluated.now)) log_denial(evaluated);
}

void Recorder::log_denial(const Evaluated& evaluated) {
  const EvaluationBatch& batch = evaluated.batch;
  const std::size_t number = evaluated.number;
  const Verdict& verdict = batch.verdict(number);
  const policy::Ruleset& ruleset = batch.bindings().ruleset();
  const bool is_query = batch.kind(number) == Kind::query;
  Denial denial{.time = evaluated.now,
                .reason = name_of(verdict.reason),
                .route = verdict.route,
                .tier = ruleset.tiers.names[verdict.tier],
                .cost = (is_query ? batch.query(number).cost : batch.named(number).cost).value_or(Cost{1}),
                .decision = verdict.decision};
  if (verdict.reason == engine::Reason::blocked_by_operator) denial.decision.retry_after = verdict.retry_after;
  if (is_query) {
    denial.method = batch.query(number).method;
    denial.address = batch.matched(number).caller.address;
    const TraceIds ids = trace_ids(batch.query(number));
    denial.trace_id = ids.trace_id;
    denial.request_id = ids.request_id;
  }
  consumer_.clear();
  if (verdict.limit != Verdict::no_limit) {
    denial.limit = ruleset.limits[verdict.limit].name;
    const auto decided = std::ranges::find(verdict.outcomes, verdict.limit, &Outcome::limit);
    if (decided != verdict.outcomes.end()) {
      denial.cost = decided->cost;
      const auto index = static_cast<std::size_t>(decided - verdict.outcomes.begin());
      names_.append(consumer_, batch.matched(number).key(index));
    }
  }
  denial.consumer = consumer_;
  const std::string exception = verdict.exception != 0 && id_of_ ? id_of_(verdict.exception) : std::string();
  denial.exception = exception;
  log_->write(denial, line_);
}

void Recorder::record_denial(const engine::DescriptorQuery& ask, const DescriptorStatus& status, Instant now) {
  consumer_.clear();
  names_.append(consumer_, ask.entries);
  if (status.limit) {
    constexpr table::HashKey any_key{};  // consumer_ is already hashed with the secret key
    denied_.count(by_number_[*status.limit]->first, table::siphash13(any_key, consumer_), now,
                  [&](std::string& name) { name = consumer_; });
  }
  if (log_ == nullptr || !sampler_.takes() || !log_->has_room(now)) return;
  const std::string_view limit = status.limit ? std::string_view(by_number_[*status.limit]->first) : "override";
  const Denial denial{.time = now,
                      .reason = name_of(status.numbers.limit == 0 ? engine::Reason::banned : engine::Reason::exceeded),
                      .limit = limit,
                      .consumer = consumer_,
                      .cost = ask.hits,
                      .decision = status.decision};
  log_->write(denial, line_);
}

void Recorder::add_to(RecorderTotals& totals) const {
  add_to(totals.durations);
  batches_.add_to(totals.batches);
  const std::lock_guard guard(mutex_);
  for (const auto& [name, figures] : limits_) {
    figures.headroom.add_to(totals.headroom[name]);
    ReceiptTotals& receipts = totals.receipts[name];
    for (std::size_t i = 0; i < receipts.events.size(); ++i) receipts.events[i] += figures.receipts[i].value();
    receipts.lost_units += figures.lost_units.value();
  }
}

}  // namespace weir::observe
