// Slices of an approximate limit, where no request waits for the store. See slice_table.h.
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
  record.since.units = std::min(record.since.units + cost.units(), core::Ledger::max_units);
  ++record.since.requests;
  Taken taken;
  taken.answer = Answer::spent;
  taken.number = record.number;
  taken.renews = renewal_is_due(record, now);
  if (cost.units() == 0 || (record.is_live(now) && cost.units() <= record.rest)) {
    take_from_slice(record, cost);
    taken.decision = admitted(record, now);
  } else if (spend_allowance(record, cost, now)) {
    taken.on = On::allowance;
    taken.decision = admitted(record, now);
  } else if (is_unavailable(record, now)) {
    taken.on = On::share;
    taken.decision = decide_on_share(record, cost, now);
    if (!taken.decision.admitted) taken.answer = Answer::denied;
  } else if (allowance() == 0 && now >= record.confirmed_until) {
    taken.answer = Answer::ask;  // too small for so many nodes: the store decides exactly
  } else {
    taken.answer = Answer::denied;
    taken.decision = denied_at_once(record, cost, now);
  }
  return taken;
}

// For a recently answered key: true if the store had at least as much left as all allowances together.
bool SliceTable::has_plenty(const Record& record) const noexcept {
  return record.left >= options_.capacity / 4;
}

bool SliceTable::spend_allowance(Record& record, Cost cost, Ticks now) const noexcept {
  if (now < record.confirmed_until && !has_plenty(record)) return false;
  if (now >= record.lost_until) record.lost = 0;
  if (now >= record.allowance_until) record.allowance = allowance() - std::min(allowance(), record.lost);
  if (cost.units() > record.allowance) return false;
  record.allowance -= cost.units();
  record.unasked += cost.units();
  record.allowance_until = now + allowance_period_.count();
  return true;
}

// More may be available after the next exchange or, if all is used, when some of it refills.
Decision SliceTable::denied_at_once(const Record& record, Cost cost, Ticks now) const noexcept {
  Decision decision = admitted(record, now);
  decision.admitted = false;
  decision.remaining = std::min(decision.remaining, cost.units() - 1);
  if (cost.units() > options_.capacity) {
    decision.retry_after.reset();
    return decision;
  }
  const Limit& limit = options_.approximate->limit;
  Duration refilled_after{};
  if (record.left < cost.units()) {
    const auto fill = static_cast<std::uint64_t>(core::time_to_fill(limit).count());
    refilled_after = limit.algorithm() == Algorithm::fixed_window
                         ? decision.reset_after
                         : Duration{static_cast<std::int64_t>(
                               core::multiply_divide_ceil(cost.units() - record.left, fill, options_.capacity))};
  }
  const Duration sweep = options_.lease / 16;
  decision.retry_after = std::max(refilled_after, Duration{std::max<Ticks>(0, record.next_message - now)} + sweep);
  return decision;
}

// The functions below decide while the store does not answer.

// A slice is spent for three syncs from its request, and the next one is requested when it arrives, so two round trips
// must fit. A slower store counts as unavailable.
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
  if (!record.share) return;  // it was forgotten in the meantime
  core::visit_rule(share_rule(), [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      const auto refund = [&](typename A::State& state) {  // at the instant of the charge, when all of it is visible
        A::refund(of.limit, state, cost, {.at = charged_at, .full_at = A::forget_at(of.limit, state)}, charged_at);
      };
      refund(record.share->used.of<A>());
      refund(record.share->uncharged.of<A>());
    }
  });
}

// Removes and returns what is still visible of the units that the share admitted.
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

// The functions below build messages and apply their answers.

// True if the key is worth a slice: it is asked for often, or little is left, so that the allowance may not be spent.
bool SliceTable::deserves_slice(const Record& record, Ticks now) const noexcept {
  if (record.wants_slice || (now < record.confirmed_until && !has_plenty(record))) return true;
  return record.since.requests > options_.max_unleased ||
         demand(record, now).requests > 4 * options_.max_unleased;  // a lease is four syncs
}

// Keeps at most the demand of a sync and returns the rest.
core::SliceMessage SliceTable::exchange(Record& record, std::string_view shared_key, Ticks now) {
  const std::uint64_t expected = std::max({record.since.units, demand(record, now).units / 4, std::uint64_t{1}});
  const std::uint64_t want = deserves_slice(record, now) ? expected : 0;
  const std::uint64_t keep = record.is_live(now) ? std::min(record.rest, want) : 0;
  core::SliceMessage message_out = message(record, shared_key, keep, want);
  message_out.nodes = nodes();
  send_unasked(record, message_out, now);
  record.since = {};
  record.is_returned = record.wants_slice = false;
  record.sent_at = now;
  // Shifted by up to a tenth of a sync, so that messages do not all come at once.
  const auto sync = static_cast<std::uint64_t>(options_.approximate->sync.count());
  record.next_message = now + static_cast<Ticks>(sync - sync / 10 + record.number * 7'919 % (sync / 5 + 1));
  return message_out;
}

void SliceTable::send_unasked(Record& record, core::SliceMessage& message, Ticks now) {
  record.shared_sent = take_uncharged(record, now);
  record.unasked_sent = std::exchange(record.unasked, 0);
  message.unasked = record.unasked_sent + record.shared_sent;
  SliceCounts::raise(counts().unasked, message.unasked);
}

void SliceTable::record_answer(Record& record, const core::SliceAnswer& answer, std::uint64_t kept,
                               Ticks now) noexcept {
  record.was_unavailable = !record.is_returned && now - record.sent_at >= slow_answer();
  record.is_starved = 4 * answer.units < record.wanted;
  record.unasked_sent = record.shared_sent = 0;
  const Ticks sync = options_.approximate->sync.count();
  // An answer about a fixed window is valid only until that window ends.
  const bool is_fixed = options_.approximate->limit.algorithm() == Algorithm::fixed_window;
  const Ticks confirmed_for = std::min(3 * sync, is_fixed ? answer.lasts.count() : never);
  record.confirmed_until = record.is_returned ? now : record.begins + confirmed_for;
  // A slice that ends with its window is replaced by a slice of the next window as soon as possible.
  const bool ends_early = answer.lasts < options_.lease;
  if (ends_early) record.next_message = std::min(record.next_message, std::max(record.ends, now + sync / 16));
  const std::uint64_t free = answer.left + answer.units - std::min(answer.units, kept);
  if (free == 0) {
    record.allowance = 0;
    record.allowance_until = now + allowance_period_.count();
  } else {
    if (now >= record.lost_until) record.lost = 0;
    record.allowance = allowance() - std::min(allowance(), record.unasked + record.lost);
    // The allowance may not be spent while little is left, so the next request needs a slice.
    record.wants_slice = record.wanted == 0 && !record.is_returned && !has_plenty(record);
    if (record.wants_slice) record.next_message = now;
  }
  std::uint64_t most = max_excess_.load(std::memory_order_relaxed);
  while (answer.over > most && !max_excess_.compare_exchange_weak(most, answer.over, std::memory_order_relaxed)) {
  }
}

// It is unknown whether units in an unanswered message were charged. They are not charged again, and stay deducted from
// the allowance like units that did not fit.
void SliceTable::record_silence(Record& record, bool was_sent, Ticks now) {
  record.was_unavailable = true;
  record.no_message_before = now + options_.approximate->sync.count();
  if (!was_sent) {
    record.unasked += record.unasked_sent;
    keep_uncharged(record, record.shared_sent, now);
  } else if (record.unasked_sent > 0) {
    record.lost += record.unasked_sent;
    record.allowance_until = record.lost_until = now + allowance_period_.count();
  }
  record.unasked_sent = record.shared_sent = 0;
}

// Units that a counter regains but does not grant before its window ends are lost.
bool SliceTable::is_near_end(const Record& record, Ticks now) const noexcept {
  if (counter_window_ == 0) return false;
  return record.window + counter_window_ - max_store_time(now) < 2 * options_.approximate->sync.count();
}

// A slice of which little is left, in units or in time, is renewed early, unless the store had little to grant: units
// that come back by and by are worth one message per sync.
bool SliceTable::is_time_to_exchange(const Record& record, Ticks now) const noexcept {
  if (now >= record.next_message) return true;
  if (now - record.sent_at < options_.approximate->sync.count() / 16) return false;
  const bool can_grow = !record.is_starved || is_near_end(record, now);
  if (record.total == 0) return can_grow && record.since.requests > options_.max_unleased;
  if ((record.ends - now) * 4 < record.ends - record.begins) return true;
  return can_grow && record.rest * 4 <= record.total;
}

bool SliceTable::exchange_is_due(const Record& record, Ticks now) const noexcept {
  const bool has_news = record.since.requests > 0 || record.unasked > 0;
  return (has_news || record.was_unavailable || record.wants_slice) && renewal_is_due(record, now);
}

// True if dropping the record loses nothing: a new record for the key could do no more than this one.
bool SliceTable::may_be_dropped(const Record& record, Ticks now) const noexcept {
  const bool has_allowance = record.allowance >= allowance() || now >= record.allowance_until;
  const bool has_unreported = record.unasked > 0 || record.rest > 0 || (record.was_unavailable && record.share);
  return has_allowance && !has_unreported;
}

}  // namespace weir::store
