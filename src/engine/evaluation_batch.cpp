#include "engine/evaluation_batch.h"

#include <mutex>
#include <utility>

#include "engine/evaluator.h"
#include "match/consumer.h"

namespace weir::engine {
namespace {

std::optional<Error> error_of(ResetEvaluation::Outcome outcome) {
  switch (outcome) {
    case ResetEvaluation::Outcome::done:
      break;
    case ResetEvaluation::Outcome::shared:
      return Error{
          "consumer",
          "shares a state with other consumers because memory is full, so it was not reset; raise state.memory "
          "and restart"};
    case ResetEvaluation::Outcome::unanswered:
      return Error{"store", "unavailable: the consumer may not have been reset; retry when the store is back"};
  }
  return std::nullopt;
}

}  // namespace

EvaluationBatch::Throttle::Throttle(EvaluationBatch& batch) {
  store::Check& check = group.checks.emplace_back();
  check.states = &batch.evaluator_.throttle_;
  check.rule = &rule;
  group.fallback = store::Fallback::share;
  group.callback = &batch;
}

void EvaluationBatch::clear() noexcept {
  used_ = throttles_used_ = 0;
  order_.clear();
  bindings_.reset();
  on_done_ = nullptr;
  abandoned_ = false;
}

EvaluationBatch::Item& EvaluationBatch::new_item(Kind kind) {
  if (used_ == items_.size()) items_.push_back(std::make_unique<Item>(*this));
  order_.push_back({false, static_cast<std::uint32_t>(used_)});
  Item& item = *items_[used_++];
  item.kind = kind;
  if (item.options.receipts != nullptr) item.receipt_request = {};
  item.options = {};
  item.error.reset();
  return item;
}

EvaluationBatch::Item& EvaluationBatch::new_item(Kind kind, const ReceiptRequest& ask) {
  Item& item = new_item(kind);
  item.receipt_request = ask;
  item.options.receipts = &item.receipt_request;
  return item;
}

void EvaluationBatch::Item::set(const Query& asked) {
  query = asked;
  options.max_wait = asked.max_wait;
  options.peek = asked.peek;
  options.wants_more_after = asked.wants_more_after;
}

void EvaluationBatch::Item::set(const NamedQuery& asked) {
  named = asked;
  options.max_wait = asked.max_wait;
  options.peek = asked.peek;
  options.wants_more_after = asked.wants_more_after;
  options.wants_holdings = asked.peek && asked.wants_holdings;
}

void EvaluationBatch::add_throttle(table::KeyHash hash, std::string_view key, const core::Gcra::Limit& limit,
                                   Cost quantity) {
  if (throttles_used_ == throttles_.size()) throttles_.push_back(std::make_unique<Throttle>(*this));
  order_.push_back({true, static_cast<std::uint32_t>(throttles_used_)});
  Throttle& throttle = *throttles_[throttles_used_++];
  throttle.limit = limit;
  store::Check& check = throttle.group.checks[0];
  check.hash = hash;
  check.cost = quantity;
  throttle.key = key;
}

bool EvaluationBatch::submit() {
  return submit(evaluator_.clock_->now(), {});
}

// A batch of CL.THROTTLE on a local store needs no policy, hence no lock against a reload.
bool EvaluationBatch::submit(Instant now, std::span<const Instant> times) {
  Evaluator::Lock lock;
  if (used_ > 0 || evaluator_.is_shared_) {
    lock = evaluator_.lock();
    bindings_ = evaluator_.bindings_;
    if (evaluator_.observer_ != nullptr) started_ = evaluator_.observer_->begin();
  }
  open_ = order_.size();
  submitting_ = true;
  std::size_t prepared = 0;
  for (const Entry& entry : order_) {
    if (entry.is_throttle) {
      begin(*throttles_[entry.number], now);
    } else {
      begin(*items_[entry.number], times.empty() ? now : times[entry.number]);
    }
    if (++prepared % Evaluator::ahead == 0) flush();
  }
  flush();
  submitting_ = false;
  if (open_ > 0) return false;
  if (used_ > 0) conclude(now);
  return true;
}

void EvaluationBatch::begin(Throttle& throttle, Instant now) {
  store::Check& check = throttle.group.checks[0];
  check.path = store::Path::store;
  if (evaluator_.is_shared_) bindings_->shared_keys()->write(bindings_->throttle_name(), throttle.key, check.key);
  throttle.group.failure = store::Failure::none;
  throttle.group.deadline.reset();
  throttle.group.now = now;
  to_submit_.push_back(&throttle.group);
}

// A block does not apply to reports: the usage of a request that was admitted is charged.
match::ExceptionsAt EvaluationBatch::exceptions_for(const Item& item, Instant now) const noexcept {
  match::ExceptionsAt exceptions = bindings_->exceptions_at(now);
  exceptions.applies_blocks = item.kind == Kind::query || item.kind == Kind::named;
  return exceptions;
}

void EvaluationBatch::begin(Item& item, Instant now) {
  item.evaluation = &item.by_query;
  switch (item.kind) {
    case Kind::query:
    case Kind::report:
      bindings_->matcher().match(item.query, *evaluator_.scratch_, item.by_query.matched, exceptions_for(item, now));
      item.by_query.begin(*bindings_, item.options, now);
      break;
    case Kind::named:
    case Kind::report_named:
      begin_named(item, now);
      break;
    case Kind::receipt:
      item.evaluation = &item.by_receipt;
      item.by_receipt.begin(*bindings_, item.receipt, item.receipt_request, now);
      break;
    case Kind::descriptors:
      item.evaluation = &item.by_descriptors;
      item.by_descriptors.begin(*bindings_, item.domain, item.asks, item.options, now);
      break;
    case Kind::reset:
      item.evaluation = &item.by_reset;
      begin_reset(item, now);
      break;
    case Kind::reset_descriptor:
      item.evaluation = &item.by_reset;
      begin_descriptor_reset(item, now);
      break;
  }
  if (item.error) {
    --open_;
    return;
  }
  const auto groups = item.evaluation->prepared();
  for (store::Group& group : groups) to_submit_.push_back(&group);
  if (!groups.empty()) return;
  if (item.evaluation->asks_later()) flush();  // submits earlier requests first, to keep their order
  item.evaluation->advance();
}

void EvaluationBatch::begin_named(Item& item, Instant now) {
  if (auto found =
          match::match_named(bindings_->matcher(), item.named, item.by_query.matched, exceptions_for(item, now));
      !found) {
    item.error = std::move(found.error());
    return;
  }
  item.by_query.begin(*bindings_, item.options, now);
}

void EvaluationBatch::begin_reset(Item& item, Instant now) {
  const auto found = match::read_named(bindings_->matcher(), item.named, item.consumer);
  if (!found) {
    item.error = found.error();
    return;
  }
  std::string text;
  match::append_shared_consumer(text, item.consumer);
  item.by_reset.begin(*bindings_, bindings_->limits()[found->limit], item.consumer, text, now);
}

void EvaluationBatch::begin_descriptor_reset(Item& item, Instant now) {
  const auto found = match::find_descriptor(bindings_->ruleset(), item.descriptor, item.consumer);
  if (!found) {
    item.error = found.error();
    return;
  }
  std::string text;
  match::append_shared_descriptor(text, item.consumer);
  static const BoundLimit unlimited;  // stands for a limit without states to reset
  const auto& limit = (*found)->limit;
  item.by_reset.begin(*bindings_, limit ? bindings_->limits()[*limit] : unlimited, item.consumer, text, now);
}

void EvaluationBatch::flush() {
  if (to_submit_.empty()) return;
  evaluator_.store_.submit(to_submit_);
  to_submit_.clear();
}

// The callback runs without the lock: it may take other locks, or take long.
void EvaluationBatch::on_answered(Evaluation& evaluation) {
  if (submitting_) return evaluation.advance();
  {
    const std::lock_guard guard(evaluator_.busy_);
    evaluation.advance();
    if (open_ > 0) return;
    conclude(evaluator_.clock_->now());
  }
  notify();
}

void EvaluationBatch::answered(store::Group& group) {
  if (evaluator_.is_shared_) evaluator_.paths_.raise(group.checks[0].path);
  --open_;
  if (submitting_ || open_ > 0) return;
  {
    const std::lock_guard guard(evaluator_.busy_);
    conclude(evaluator_.clock_->now());
  }
  notify();
}

void EvaluationBatch::notify() {
  if (abandoned_) return evaluator_.put_back(this);
  if (const auto callback = std::exchange(on_done_, nullptr)) callback();
}

void EvaluationBatch::conclude(Instant now) {
  const bool counts = evaluator_.bindings_ == bindings_;
  for (std::size_t i = 0; i < used_; ++i) finish(*items_[i], counts, now);
  const bool is_seen = counts && !abandoned_ && used_ > 0 && evaluator_.observer_ != nullptr;
  if (is_seen) evaluator_.observer_->evaluated(*this, started_, now);
}

void EvaluationBatch::finish(Item& item, bool counts, Instant now) {
  if (item.error) return;
  const EvaluationResult& result = std::as_const(*item.evaluation).result();
  switch (item.kind) {
    case Kind::query:
    case Kind::named: {
      if (!counts || item.options.peek) return;
      const bool reserves =
          item.options.receipts != nullptr && item.receipt_request.action == ReceiptRequest::Action::reserve;
      evaluator_.count(item.by_query.matched, result.verdict, now);
      evaluator_.count_usage(result.verdict, reserves ? std::optional(policy::Usage::reserved) : std::nullopt);
      return;
    }
    case Kind::descriptors:
      if (!counts || item.options.receipts != nullptr) return;
      evaluator_.count_descriptors(result.verdict, item.by_descriptors.statuses());
      return;
    case Kind::report:
    case Kind::report_named:
      if (counts && item.receipt_request.action == ReceiptRequest::Action::report) {
        evaluator_.count_usage(result.verdict, policy::Usage::reported);
      }
      return;
    case Kind::receipt:
      return;
    case Kind::reset:
    case Kind::reset_descriptor:
      item.error = error_of(item.by_reset.outcome());
      return;
  }
}

void EvaluationBatch::release() noexcept {
  if (!in_flight()) return evaluator_.put_back(this);
  abandoned_ = true;
  on_done_ = nullptr;
}

}  // namespace weir::engine
