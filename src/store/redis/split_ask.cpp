#include "store/redis/split_ask.h"

#include <algorithm>
#include <utility>

namespace weir::store::redis {

namespace {

bool may_have_charged(StoreFailure failure) noexcept {
  return failure != StoreFailure::none && failure != StoreFailure::away && failure != StoreFailure::refused;
}

}  // namespace

void SplitAsk::begin(SharedAsk& whole, std::span<const Slot> slots) {
  whole_ = &whole;
  used_ = 0;
  for (std::size_t i = 0; i < whole.checks.size(); ++i) {
    Part& part = part_of(slots[i]);
    part.ask.checks.push_back(std::move(whole.checks[i]));
    part.places.push_back(i);
  }
  waiting_ = used_;
}

SplitAsk::Part& SplitAsk::part_of(Slot slot) {
  for (Part& part : parts()) {
    if (part.slot == slot) return part;
  }
  if (parts_.size() == used_) parts_.emplace_back();
  Part& part = parts_[used_++];
  part.slot = slot;
  part.ask.operation = whole_->operation;
  part.ask.settlement = whole_->settlement;
  part.ask.deadline = whole_->deadline;
  part.ask.asker = this;
  part.ask.checks.clear();
  part.places.clear();
  return part;
}

void SplitAsk::answered(SharedAsk& /*part*/) {
  if (--waiting_ > 0) return;
  merge();
  SharedAsk& whole = *whole_;
  owner_.on_done(*this);
  whole.asker->answered(whole);
}

void SplitAsk::merge() {
  SharedAsk& whole = *whole_;
  whole.failure = StoreFailure::none;
  whole.admitted = true;
  whole.now = Instant{};
  for (Part& part : parts()) {
    // Of several failures the one that leaves most in doubt counts.
    if (may_have_charged(part.ask.failure) || whole.failure == StoreFailure::none) {
      if (part.ask.failure != StoreFailure::none) whole.failure = part.ask.failure;
    }
    if (part.ask.failure == StoreFailure::none || may_have_charged(part.ask.failure)) {
      for (SharedCheck& check : part.ask.checks) check.charge_back = 0;  // it is charged, or may be
    }
    whole.admitted = whole.admitted && part.ask.failure == StoreFailure::none && part.ask.admitted;
    whole.now = std::max(whole.now, part.ask.now);
  }
  const bool gives_back = whole.operation == SharedOperation::decide && !whole.admitted;
  whole.answers.assign(whole.checks.size(), {});
  for (Part& part : parts()) {
    if (gives_back && part.ask.failure == StoreFailure::none && part.ask.admitted) give_back(part);
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      whole.checks[part.places[i]] = std::move(part.ask.checks[i]);
      if (whole.failure == StoreFailure::none) whole.answers[part.places[i]] = part.ask.answers[i];
    }
  }
  if (whole.failure != StoreFailure::none) whole.answers.clear();
}

// The answers then say what is left uncharged, as where all is decided at one instant. When the limit is full again
// they say as it was with the charge: at most so late.
void SplitAsk::give_back(Part& part) {
  for (std::size_t i = 0; i < part.ask.checks.size(); ++i) {
    const SharedCheck& check = part.ask.checks[i];
    Decision& decision = part.ask.answers[i].decision;
    decision.delay = Duration::zero();
    if (check.role != SharedCheck::Role::charged || check.cost == Cost{0}) continue;
    owner_.refund(check, decision.charged_at, part.slot);
    decision.remaining = std::min(decision.limit, decision.remaining + check.cost.units());
  }
}

SharedAsk& RefundAsk::prepare(const SharedCheck& charged, Instant charged_at) {
  rule_ = *charged.rule;
  ask_.operation = SharedOperation::settle;
  ask_.asker = this;
  ask_.settlement = core::Settlement{.reserved = charged.cost, .actual = Cost{0}, .charged_at = charged_at};
  ask_.deadline.reset();
  ask_.checks.resize(1);
  ask_.checks.front() = charged;
  ask_.checks.front().rule = &*rule_;
  ask_.checks.front().charge_back = 0;
  return ask_;
}

}  // namespace weir::store::redis
