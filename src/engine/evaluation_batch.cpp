#include "engine/evaluation_batch.h"

#include <mutex>
#include <utility>

#include "engine/evaluator.h"
#include "match/consumer.h"

namespace weir::engine {

EvaluationBatch::Item::Item(EvaluationBatch& batch)
    : evaluation(batch, batch.evaluator_.store_, batch.evaluator_.is_shared_ ? &batch.evaluator_.paths_ : nullptr) {}

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
  told_ = nullptr;
  abandoned_ = false;
}

EvaluationBatch::Item& EvaluationBatch::new_item(Kind kind) {
  if (used_ == items_.size()) items_.push_back(std::make_unique<Item>(*this));
  order_.push_back({false, static_cast<std::uint32_t>(used_)});
  Item& item = *items_[used_++];
  item.kind = kind;
  if (item.uses_receipts) item.receipt_ask = {};
  item.looks = item.wants_holdings = item.uses_receipts = false;
  item.error.reset();
  return item;
}

void EvaluationBatch::add(const Query& query) {
  new_item(Kind::query).query = query;
}

void EvaluationBatch::add(const NamedQuery& ask) {
  new_item(Kind::named).named = ask;
}

void EvaluationBatch::add(const Query& query, const ReceiptAsk& receipts) {
  const bool decides = receipts.what == ReceiptAsk::What::reserve || receipts.what == ReceiptAsk::What::hold;
  Item& item = new_item(decides ? Kind::query : Kind::report);
  item.query = query;
  item.receipt_ask = receipts;
  item.uses_receipts = true;
}

void EvaluationBatch::add(const NamedQuery& ask, const ReceiptAsk& receipts) {
  const bool decides = receipts.what == ReceiptAsk::What::reserve || receipts.what == ReceiptAsk::What::hold;
  Item& item = new_item(decides ? Kind::named : Kind::report_named);
  item.named = ask;
  item.receipt_ask = receipts;
  item.uses_receipts = true;
}

void EvaluationBatch::add(const Receipt& receipt, const ReceiptAsk& ask) {
  Item& item = new_item(Kind::receipt);
  item.receipt = receipt;
  item.receipt_ask = ask;
  item.uses_receipts = true;
}

void EvaluationBatch::add(std::string_view domain, std::span<const DescriptorQuery> asks) {
  Item& item = new_item(Kind::descriptors);
  item.domain = domain;
  item.asks = asks;
}

void EvaluationBatch::add_look(std::string_view domain, const DescriptorQuery& ask) {
  add_look(domain, {&ask, 1});
  items_[used_ - 1]->wants_holdings = true;
}

void EvaluationBatch::add_look(std::string_view domain, std::span<const DescriptorQuery> asks) {
  add(domain, asks);
  items_[used_ - 1]->looks = true;
}

void EvaluationBatch::add_report(std::string_view domain, std::span<const DescriptorQuery> asks) {
  add(domain, asks);
  Item& item = *items_[used_ - 1];
  item.receipt_ask = {.what = ReceiptAsk::What::report};
  item.uses_receipts = true;
}

void EvaluationBatch::add_reset(const NamedQuery& ask) {
  new_item(Kind::reset).named = ask;
}

void EvaluationBatch::add_reset(const DescriptorName& name) {
  new_item(Kind::reset_descriptor).descriptor = name;
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

bool EvaluationBatch::submit(Instant now) {
  return submit(now, {});
}

bool EvaluationBatch::submit(std::span<const Instant> times) {
  return submit(times.empty() ? Instant{} : times.back(), times);
}

// CL.THROTTLE in this process's own memory has nothing to do with a policy, nor with a reload of it.
bool EvaluationBatch::submit(Instant now, std::span<const Instant> times) {
  Evaluator::Hold hold;
  if (used_ > 0 || evaluator_.is_shared_) {
    hold = evaluator_.hold();
    bindings_ = evaluator_.bindings_;
    if (evaluator_.observer_ != nullptr) begun_ = evaluator_.observer_->begin();
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

void EvaluationBatch::begin(Item& item, Instant now) {
  switch (item.kind) {
    case Kind::query:
    case Kind::report:
      begin_query(item, now);
      break;
    case Kind::named:
    case Kind::report_named:
      begin_named(item, now);
      break;
    case Kind::receipt:
      item.evaluation.begin_receipt(*bindings_, item.receipt, item.receipt_ask, now);
      break;
    case Kind::descriptors:
      item.evaluation.begin(*bindings_, item.domain, item.asks,
                            {.peek = item.looks,
                             .wants_holdings = item.wants_holdings,
                             .receipts = item.uses_receipts ? &item.receipt_ask : nullptr},
                            now);
      break;
    case Kind::reset:
      begin_reset(item, now);
      break;
    case Kind::reset_descriptor:
      begin_descriptor_reset(item, now);
      break;
  }
  if (item.error) {
    --open_;
    return;
  }
  const auto groups = item.evaluation.groups();
  for (store::Group& group : groups) to_submit_.push_back(&group);
  if (!groups.empty()) return;
  if (item.evaluation.needs_store()) flush();  // in the order of the requests
  item.evaluation.advance();
}

void EvaluationBatch::begin_query(Item& item, Instant now) {
  const Query& query = item.query;
  bindings_->matcher().match(query, *evaluator_.scratch_, item.evaluation.matched);
  item.evaluation.begin(*bindings_,
                        {.max_wait = query.max_wait,
                         .peek = query.peek,
                         .wants_more_after = query.wants_more_after,
                         .receipts = item.uses_receipts ? &item.receipt_ask : nullptr},
                        now);
}

void EvaluationBatch::begin_named(Item& item, Instant now) {
  match::Matched& matched = item.evaluation.matched;
  if (auto found = match::match_named(bindings_->matcher(), item.named, matched); !found) {
    item.error = std::move(found.error());
    return;
  }
  const NamedQuery& ask = item.named;
  item.evaluation.begin(*bindings_,
                        {.max_wait = ask.max_wait,
                         .peek = ask.peek,
                         .wants_more_after = ask.wants_more_after,
                         .wants_holdings = ask.peek && ask.wants_holdings,
                         .receipts = item.uses_receipts ? &item.receipt_ask : nullptr},
                        now);
}

void EvaluationBatch::begin_reset(Item& item, Instant now) {
  const auto found = match::read_named(bindings_->matcher(), item.named, item.consumer);
  if (!found) {
    item.error = found.error();
    return;
  }
  std::string text;
  match::append_shared_consumer(text, item.consumer);
  item.evaluation.begin_reset(*bindings_, bindings_->limits()[found->limit], item.consumer, text, now);
}

void EvaluationBatch::begin_descriptor_reset(Item& item, Instant now) {
  const auto found = match::find_descriptor(bindings_->ruleset(), item.descriptor, item.consumer);
  if (!found) {
    item.error = found.error();
    return;
  }
  std::string text;
  match::append_shared_descriptor(text, item.consumer);
  // What is not limited has nothing counted.
  static const BoundLimit unlimited;
  const auto& limit = (*found)->limit;
  item.evaluation.begin_reset(*bindings_, limit ? bindings_->limits()[*limit] : unlimited, item.consumer, text, now);
}

void EvaluationBatch::flush() {
  if (to_submit_.empty()) return;
  evaluator_.store_.submit(to_submit_);
  to_submit_.clear();
}

// Who waits is told without the hold: what it does then may take other locks, or long.
void EvaluationBatch::on_answered(Evaluation& evaluation) {
  if (submitting_) return evaluation.advance();
  {
    const std::lock_guard guard(evaluator_.busy_);
    evaluation.advance();
    if (open_ > 0) return;
    conclude(evaluator_.clock_->now());
  }
  tell();
}

void EvaluationBatch::on_finished(Evaluation& /*evaluation*/) {
  --open_;
}

// Of CL.THROTTLE.
void EvaluationBatch::answered(store::Group& group) {
  if (evaluator_.is_shared_) evaluator_.paths_.raise(group.checks[0].path);
  --open_;
  if (submitting_ || open_ > 0) return;
  {
    const std::lock_guard guard(evaluator_.busy_);
    conclude(evaluator_.clock_->now());
  }
  tell();
}

void EvaluationBatch::tell() {
  if (abandoned_) return evaluator_.put_back(this);
  if (const auto told = std::exchange(told_, nullptr)) told();
}

void EvaluationBatch::conclude(Instant now) {
  const bool counts = evaluator_.bindings_ == bindings_;
  for (std::size_t i = 0; i < used_; ++i) finish(*items_[i], counts, now);
  const bool is_seen = counts && !abandoned_ && used_ > 0 && evaluator_.observer_ != nullptr;
  if (is_seen) evaluator_.observer_->evaluated(*this, begun_, now);
}

void EvaluationBatch::finish(Item& item, bool counts, Instant now) {
  if (item.error) return;
  switch (item.kind) {
    case Kind::query:
    case Kind::named: {
      const bool peek = item.kind == Kind::query ? item.query.peek : item.named.peek;
      if (!counts || peek) return;
      const bool reserves = item.uses_receipts && item.receipt_ask.what == ReceiptAsk::What::reserve;
      evaluator_.count(item.evaluation.matched, item.evaluation.verdict(), now);
      evaluator_.count_usage(item.evaluation.verdict(),
                             reserves ? std::optional(policy::Usage::reserved) : std::nullopt);
      return;
    }
    case Kind::descriptors:
      if (counts && !item.uses_receipts) evaluator_.count_descriptors(item.evaluation);
      return;
    case Kind::report:
    case Kind::report_named:
      if (counts && item.receipt_ask.what == ReceiptAsk::What::report) {
        evaluator_.count_usage(item.evaluation.verdict(), policy::Usage::reported);
      }
      return;
    case Kind::receipt:
      return;
    case Kind::reset:
    case Kind::reset_descriptor:
      item.error = error_of(item.evaluation.reset());
      return;
  }
}

std::optional<Error> EvaluationBatch::error_of(Evaluation::Reset reset) {
  switch (reset) {
    case Evaluation::Reset::done:
      break;
    case Evaluation::Reset::shared:
      return Error{"consumer",
                   "shares a state with others for want of memory, and that was not reset: it would let them start "
                   "afresh too; give state.memory more, and restart"};
    case Evaluation::Reset::unanswered:
      return Error{"store", "is away, and the consumer may not be forgotten there: try again when it is back"};
  }
  return std::nullopt;
}

void EvaluationBatch::release() noexcept {
  if (!in_flight()) return evaluator_.put_back(this);
  abandoned_ = true;
  told_ = nullptr;
}

}  // namespace weir::engine
