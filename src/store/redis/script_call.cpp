#include "store/redis/script_call.h"

#include <algorithm>
#include <utility>

namespace weir::store::redis {
namespace {

constexpr std::size_t max_indexed_calls = 60'000;  // the maximum number of calls that an index can identify

}  // namespace

void PendingCalls::add(Group& group, SteadyTime deadline, Slot slot) {
  ++groups_;
  const std::uint16_t place = open_call_of(slot);
  if (place != 0 && calls_[place - 1U]->add(group, deadline)) return;
  ScriptCall& fresh = open(slot);
  if (calls_.size() < max_indexed_calls) open_call_of(slot) = static_cast<std::uint16_t>(calls_.size());
  static_cast<void>(fresh.add(group, deadline));  // an empty call accepts any group
}

void PendingCalls::add_alone(Group& group, SteadyTime deadline, Slot slot, bool asking) {
  ++groups_;
  ScriptCall& fresh = open(slot);
  fresh.asking = asking;
  static_cast<void>(fresh.add(group, deadline));
}

SteadyTime PendingCalls::oldest() const noexcept {
  SteadyTime oldest = SteadyTime::max();
  for (const auto& call : calls_) oldest = std::min(oldest, call->oldest);
  return oldest;
}

void PendingCalls::drop_expired(SteadyTime now, std::vector<Group*>& expired) {
  const std::size_t before = expired.size();
  for (const auto& call : calls_) call->drop_expired(now, expired);
  groups_ -= expired.size() - before;
}

void PendingCalls::take(std::vector<std::unique_ptr<ScriptCall>>& calls) noexcept {
  calls_.swap(calls);
  for (const auto& call : calls) open_calls_[call->slot] = 0;
  groups_ = 0;
}

void PendingCalls::recycle(std::unique_ptr<ScriptCall> call) noexcept {
  call->clear(0);
  spare_.put_back(std::move(call));
}

ScriptCall& PendingCalls::open(Slot slot) {
  static_cast<void>(open_call_of(slot));
  calls_.push_back(spare_.take());
  calls_.back()->clear(slot);
  return *calls_.back();
}

std::uint16_t& PendingCalls::open_call_of(Slot slot) {
  if (open_calls_.size() <= slot) open_calls_.resize(std::size_t{slot} + 1);
  return open_calls_[slot];
}

}  // namespace weir::store::redis
