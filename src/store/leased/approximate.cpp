// What is different for the slices of an approximate limit: nobody waits. See slice_table.h.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/operations.h"
#include "core/share.h"
#include "store/leased/slice_table.h"

namespace weir::store {
namespace {

using Ticks = SliceTable::Ticks;

constexpr Ticks never = std::numeric_limits<Ticks>::max();

}  // namespace

template <class A>
typename A::State& SliceTable::ShareState::of() noexcept {
  if constexpr (std::is_same_v<A, core::FixedWindow>) {
    return fixed;
  } else if constexpr (std::is_same_v<A, core::SlidingWindowCounter>) {
    return counter;
  } else {
    return arrival;
  }
}

std::uint32_t SliceTable::nodes() const noexcept {
  return std::max<std::uint32_t>(1, options_.holder->nodes.load(std::memory_order_relaxed));
}

SliceTable::Taken SliceTable::take_at_once(Record& record, Cost cost, Ticks now) {
  record.asked_since = std::min(record.asked_since + cost.units(), core::Ledger::max_units);
  Taken taken;
  taken.answer = Answer::spent;
  taken.number = record.number;
  taken.renews = renewal_is_due(record, now);
  if (cost.units() == 0 || (record.is_live(now) && cost.units() <= record.rest)) {
    record.rest -= cost.units();
    taken.decision = admitted(record, now);
  } else if (spend_allowance(record, cost, now)) {
    taken.on = On::allowance;
    taken.decision = admitted(record, now);
  } else if (is_unavailable(record, now)) {
    taken.on = On::share;
    taken.decision = decide_on_share(record, cost, now);
    if (!taken.decision.admitted) taken.answer = Answer::denied;
  } else if (allowance() == 0 && now >= record.heard_until) {
    taken.answer = Answer::ask;  // too little for so many nodes: decided exactly
  } else {
    taken.answer = Answer::denied;
    taken.decision = denied_at_once(record, cost, now);
  }
  return taken;
}

// Of a key that the store was heard of lately only if there was plenty left: as much as all allowances come to.
bool SliceTable::has_plenty(const Record& record) const noexcept {
  return record.left >= options_.capacity / 4;
}

bool SliceTable::spend_allowance(Record& record, Cost cost, Ticks now) const noexcept {
  if (now < record.heard_until && !has_plenty(record)) return false;
  if (now >= record.allowance_until) {
    record.allowance = allowance();
    record.lost = 0;
  }
  if (cost.units() > record.allowance) return false;
  record.allowance -= cost.units();
  record.unasked += cost.units();
  record.allowance_until = now + allowance_period_.count();
  return true;
}

// More can be there after the next exchange; if all is used, when some of it comes back.
Decision SliceTable::denied_at_once(const Record& record, Cost cost, Ticks now) const noexcept {
  Decision decision = admitted(record, now);
  decision.admitted = false;
  decision.remaining = std::min(decision.remaining, cost.units() - 1);
  if (cost.units() > options_.capacity) {
    decision.retry_after.reset();
    return decision;
  }
  const Limit& limit = options_.approximate->limit;
  Duration comes_back{};
  if (record.left < cost.units()) {
    const auto fill = static_cast<std::uint64_t>(core::time_to_fill(limit).count());
    comes_back = limit.algorithm() == Algorithm::fixed_window
                     ? decision.reset_after
                     : Duration{static_cast<std::int64_t>(
                           core::multiply_divide_ceil(cost.units() - record.left, fill, options_.capacity))};
  }
  const Duration sweep = options_.lease / 16;
  decision.retry_after = std::max(comes_back, Duration{std::max<Ticks>(0, record.next_message - now)} + sweep);
  return decision;
}

// --- while the store does not answer

// A slice is spent for three syncs from when it was asked for, and the next one asked for when it is there: two round
// trips have to fit in. A store that is slower is of no more use than one that does not answer.
Ticks SliceTable::slow_answer() const noexcept {
  return options_.approximate->sync.count() * 3 / 2;
}

bool SliceTable::is_unavailable(const Record& record, Ticks now) const noexcept {
  return record.was_unavailable || (record.in_flight && now - record.sent_at >= slow_answer());
}

core::Rule SliceTable::share_rule() const {
  return core::compile(core::local_share_of(options_.approximate->limit, core::whole_share / nodes(), Cost{1}));
}

Decision SliceTable::decide_on_share(Record& record, Cost cost, Ticks now) {
  if (!record.share) record.share = std::make_unique<Share>();
  const Instant at = store_time(now);
  return core::visit_rule(share_rule(), [&]<class A>(const core::RuleOf<A>& of) {
    Decision decision;
    if constexpr (core::can_be_leased<A>) {
      decision = A::decide(of.limit, record.share->used.of<A>(), cost, at);
      if (decision.admitted) A::owe(of.limit, record.share->uncharged.of<A>(), cost, at);
    }
    return decision;
  });
}

void SliceTable::put_back_on_share(Record& record, Instant charged_at, Cost cost) const {
  if (!record.share) return;  // it was forgotten meanwhile
  core::visit_rule(share_rule(), [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      const auto refund = [&](typename A::State& state) {  // at the instant of the charge: all of it is visible
        A::refund(of.limit, state, cost, {.at = charged_at, .full_at = A::forget_at(of.limit, state)}, charged_at);
      };
      refund(record.share->used.of<A>());
      refund(record.share->uncharged.of<A>());
    }
  });
}

// What is still visible of what the share admitted. It is not kept any more.
std::uint64_t SliceTable::take_uncharged(Record& record, Ticks now) const {
  if (!record.share) return 0;
  const Instant at = store_time(now);
  return core::visit_rule(share_rule(), [&]<class A>(const core::RuleOf<A>& of) -> std::uint64_t {
    if constexpr (core::can_be_leased<A>) {
      const auto used = [&](const typename A::State& state) {
        const Decision decision = A::peek(of.limit, state, Cost{0}, at);
        return decision.limit - decision.remaining;
      };
      auto& uncharged = record.share->uncharged.of<A>();
      const std::uint64_t visible = std::min(used(uncharged), used(record.share->used.of<A>()));
      uncharged = {};
      return visible;
    }
    return 0;
  });
}

void SliceTable::keep_uncharged(Record& record, std::uint64_t units, Ticks now) const {
  if (units == 0) return;
  core::visit_rule(share_rule(), [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      A::owe(of.limit, record.share->uncharged.of<A>(), Cost{units}, store_time(now));
    }
  });
}

// --- messages

// At most what was asked for since the last message is kept, and the rest given back.
core::SliceMessage SliceTable::exchange(Record& record, std::string_view shared_key, Ticks now) {
  const std::uint64_t keep = record.is_live(now) ? std::min(record.rest, record.asked_since) : 0;
  core::SliceMessage said = message(record, shared_key, keep, record.rest - keep, record.asked_since);
  said.nodes = nodes();
  send_unasked(record, said, now);
  record.asked_since = 0;
  record.sent_at = now;
  // A tenth of a sync earlier or later, so that they do not all come at one time.
  const auto sync = static_cast<std::uint64_t>(options_.approximate->sync.count());
  record.next_message = now + static_cast<Ticks>(sync - sync / 10 + record.number * 7'919 % (sync / 5 + 1));
  return said;
}

void SliceTable::send_unasked(Record& record, core::SliceMessage& message, Ticks now) {
  record.shared_sent = take_uncharged(record, now);
  record.unasked_sent = std::exchange(record.unasked, 0);
  message.unasked = record.unasked_sent + record.shared_sent;
  SliceCounts::raise(counts().unasked, message.unasked);
}

void SliceTable::heard(Record& record, const core::SliceAnswer& answer, std::uint64_t kept, Ticks now) noexcept {
  const bool is_returned = record.wanted == 0 && answer.units == 0;
  record.was_unavailable = !is_returned && now - record.sent_at >= slow_answer();
  record.unasked_sent = record.shared_sent = 0;
  const Ticks sync = options_.approximate->sync.count();
  // A fixed window that begins is not one that the store was heard of.
  const bool is_fixed = options_.approximate->limit.algorithm() == Algorithm::fixed_window;
  const Ticks known_for = std::min(3 * sync, is_fixed ? answer.lasts.count() : never);
  record.heard_until = is_returned ? now : record.begins + known_for;
  // A slice that ends with its window is followed by one of the next as soon as it can be.
  const bool ends_early = answer.lasts < options_.lease;
  if (ends_early) record.next_message = std::min(record.next_message, std::max(record.ends, now + sync / 16));
  const bool is_counter = options_.approximate->limit.algorithm() == Algorithm::sliding_window_counter;
  record.hurries_from = ends_early && is_counter ? record.begins + answer.lasts.count() - 2 * sync : never;
  const std::uint64_t free = answer.left + answer.units - std::min(answer.units, kept);
  if (free == 0) {
    record.allowance = 0;
    record.allowance_until = now + allowance_period_.count();
  } else {
    record.allowance = allowance() - std::min(allowance(), record.unasked + record.lost);
  }
  std::uint64_t most = max_excess_.load(std::memory_order_relaxed);
  while (answer.over > most && !max_excess_.compare_exchange_weak(most, answer.over, std::memory_order_relaxed)) {
  }
}

// What was sent may have been charged, and is not charged again. It may not have been: so it stays off the allowance,
// as what found no room.
void SliceTable::not_heard(Record& record, bool was_sent, Ticks now) {
  record.was_unavailable = true;
  record.no_message_before = now + options_.lease.count();
  if (!was_sent) {
    record.unasked += record.unasked_sent;
    keep_uncharged(record, record.shared_sent, now);
  } else if (record.unasked_sent > 0) {
    record.lost += record.unasked_sent;
    record.allowance_until = now + allowance_period_.count();
  }
  record.unasked_sent = record.shared_sent = 0;
}

// A slice that is empty is filled before its time if there was plenty left. And what comes back of a counter until its
// window ends, and is not handed out before, is lost for good: so it is filled more often then.
bool SliceTable::is_time_to_exchange(const Record& record, Ticks now) const noexcept {
  if (now >= record.next_message) return true;
  if (record.is_live(now)) return false;
  const Ticks since = now - record.sent_at;
  const Ticks sync = options_.approximate->sync.count();
  return since >= sync / 16 && (has_plenty(record) || now >= record.hurries_from);
}

bool SliceTable::exchange_is_due(const Record& record, Ticks now) const noexcept {
  return (record.asked_since > 0 || record.unasked > 0 || record.was_unavailable) && renewal_is_due(record, now);
}

// The next one that is made for its key may do no more than this one.
bool SliceTable::may_be_dropped(const Record& record, Ticks now) const noexcept {
  const bool has_allowance = record.allowance >= allowance() || now >= record.allowance_until;
  const bool has_to_tell = record.unasked > 0 || record.rest > 0 || (record.was_unavailable && record.share);
  return has_allowance && !has_to_tell;
}

}  // namespace weir::store
