#include "store/redis/split_group.h"

#include <algorithm>

namespace weir::store::redis {

void SplitGroup::begin(Group& whole, std::span<const Slot> slots) {
  whole_ = &whole;
  used_ = 0;
  for (std::size_t i = 0; i < whole.checks.size(); ++i) {
    Part& part = part_of(slots[i]);
    part.forwarded.positions.push_back(i);
  }
  for (Part& part : parts()) part.forwarded.take(whole, *this);
  waiting_ = used_;
}

SplitGroup::Part& SplitGroup::part_of(Slot slot) {
  for (Part& part : parts()) {
    if (part.slot == slot) return part;
  }
  if (parts_.size() == used_) parts_.emplace_back();
  Part& part = parts_[used_++];
  part.slot = slot;
  part.forwarded.positions.clear();
  return part;
}

void SplitGroup::answered(Group& /*part*/) {
  if (--waiting_ > 0) return;
  merge();
  Group& whole = *whole_;
  owner_.on_done(*this);
  whole.callback->answered(whole);
}

void SplitGroup::merge() {
  Group& whole = *whole_;
  whole.failure = Failure::none;
  whole.admitted = true;
  whole.now = Instant{};
  for (Part& part : parts()) {
    const Group& group = part.forwarded.group;
    // If several parts fail, a failure that leaves the outcome in doubt takes precedence.
    const bool fails = group.failure != Failure::none;
    if (fails && (was_sent(group.failure) || whole.failure == Failure::none)) whole.failure = group.failure;
    if (was_sent(group.failure)) {
      for (const store::Check& check : group.checks) {
        if (check.extension != nullptr) check.extension->charge_back = 0;  // it was charged, or may have been
      }
    }
    whole.admitted = whole.admitted && group.failure == Failure::none && group.admitted;
    whole.now = std::max(whole.now, group.now);
  }
  const bool gives_back = whole.operation == store::Operation::decide && !whole.admitted;
  for (Part& part : parts()) {
    const Group& group = part.forwarded.group;
    if (gives_back && group.failure == Failure::none && group.admitted) give_back(part);
    part.forwarded.write_back_decisions();
  }
  whole.decided = whole.failure == Failure::none;
}

// Gives back what a part charged. Its answers then report what remains without the charge, as if all parts were decided
// at one instant. `reset_after` still includes the charge: the limit is full again at that time at the latest.
void SplitGroup::give_back(Part& part) {
  for (store::Check& check : part.forwarded.group.checks) {
    Decision& decision = check.decision;
    const core::Charged charged = core::charged_by(decision);
    decision.delay = Duration::zero();
    const core::ReceiptResult opened = check.receipt == nullptr ? core::ReceiptResult::none : check.receipt->result;
    if (check.role != store::Check::Role::charge || check.cost == Cost{0}) continue;
    if (opened == core::ReceiptResult::repeated) continue;  // charged by the first reserve
    owner_.refund(check, charged, part.slot);
    decision.remaining = std::min(decision.limit, decision.remaining + check.cost.units());
  }
  for (const store::Check& check : part.forwarded.group.checks) {
    if (check.receipt != nullptr) check.receipt->result = core::ReceiptResult::none;
  }
}

Group& RefundGroup::prepare(const store::Check& check, const core::Charged& charged) {
  rule_ = *check.rule;
  group_.operation = store::Operation::settle;
  group_.callback = this;
  group_.settlement = core::Settlement{.reserved = check.cost, .actual = Cost{0}, .charged = charged};
  const bool has_receipt = check.receipt != nullptr && check.receipt->result == core::ReceiptResult::done;
  release_ = {.id = has_receipt ? check.receipt->id : core::ReceiptId{}, .actual = Cost{0}};
  group_.deadline.reset();
  group_.now = charged.at;
  group_.checks.resize(1);
  group_.checks.front() = check;
  group_.checks.front().rule = &*rule_;
  group_.checks.front().extension = nullptr;
  group_.checks.front().receipt = has_receipt ? &release_ : nullptr;
  return group_;
}

}  // namespace weir::store::redis
