#include "engine/evaluation.h"

#include "engine/evaluation_batch.h"
#include "engine/evaluator.h"

namespace weir::engine {

Evaluation::Evaluation(EvaluationBatch& batch) noexcept
    : batch_(batch),
      store_(batch.evaluator_.store_),
      paths_(batch.evaluator_.is_shared_ ? &batch.evaluator_.paths_ : nullptr) {}

void Evaluation::start(const Bindings& bindings, Instant now) {
  bindings_ = &bindings;
  now_ = now;
  used_ = 0;
  asks_later_ = false;
  failure_ = store::Failure::none;
  deadline_.reset();
  result_.verdict.at = now;
  if (result_.holdings.known) result_.holdings = {};
  if (!result_.receipt.parts.empty()) result_.receipt.clear();
  result_.receipt_outcomes.clear();
}

store::Group& Evaluation::new_group(store::Operation operation, store::Fallback fallback) {
  if (used_ == groups_.size()) groups_.emplace_back();
  trim_checks();
  store::Group& group = groups_[used_++];
  checks_used_ = 0;
  group.operation = operation;
  group.settlement.reset();
  group.fallback = fallback;
  group.deadline = deadline_;
  group.callback = this;
  group.failure = failure_;
  group.now = now_;
  pending_ = used_;
  return group;
}

// Checks are reused: most requests have as many as the one before.
void Evaluation::trim_checks() {
  if (used_ == 0) return;
  auto& checks = groups_[used_ - 1].checks;
  if (checks.size() > checks_used_) checks.resize(checks_used_);
}

void Evaluation::note_first(const store::Group& group) noexcept {
  result_.verdict.at = group.now;
  deadline_ = group.deadline;
  if (group.failure != store::Failure::none) failure_ = group.failure;
}

void Evaluation::answered(store::Group& /*group*/) {
  if (--pending_ == 0 && !advancing_) batch_.on_answered(*this);
}

void Evaluation::advance() {
  while (next_ != nullptr) {
    (this->*std::exchange(next_, nullptr))();
    if (used_ == 0) continue;
    trim_checks();
    advancing_ = true;
    for (std::size_t i = 0; i < used_; ++i) store_.submit(groups_[i]);
    advancing_ = false;
    if (pending_ > 0) return;
  }
  batch_.on_finished();
}

}  // namespace weir::engine
