// The leased slices of one state: units that a holder may spend until a given time without asking.
//
// A grant charges nothing: its units are leased. Every decision counts used and leased units. Units are charged when
// the holder reports them as used; all remaining units of a slice are charged when it expires. Units that a holder
// neither keeps nor has used are returned, and refund nothing, since nothing was charged.
//
// Why no more than the limit is ever admitted: let u be what is used. Grants keep u + leased <= burst; a report or an
// expiration moves units from leased to u; time only lowers u. With T = t2 - t1, what is admitted in (t1, t2] is
// charged by t2 or still leased then, so it is at most u(t2) + leased(t2) + T/token - u(t1) <= burst + T/token.
//
// Why nothing depends on the number of holders: decisions and messages need only totals and the holder's own slice.
// The other slices are read when the earliest one may have expired, which is about twice per lease.
//
// Invariants:
//  1. totals.units is at least the sum of the units of all slices. A slice that is lost (evicted, say) stays in the
//     totals until first_expiry, and is then charged as used.
//  2. No slice expires before first_expiry, or after last_expiry.
//  3. The slices of a fixed window all belong to totals.window: a slice expires with its window at the latest, and
//     every operation first charges expired slices.
//
// The order within one request: expire, report, decide, grant. The Redis script does the same, bit for bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/rule.h"
#include "core/until_more.h"

namespace weir::core {

// Queues (turns, not units), logs (an entry per request) and concurrency (receipts) cannot be leased. Neither can
// calendar windows: a slice names its window by its start, which differs between zones.
template <class A>
inline constexpr bool can_be_leased =
    !std::is_same_v<A, LeakyBucketQueue> && !std::is_same_v<A, SlidingWindowLog> && !std::is_same_v<A, Concurrency>;

[[nodiscard]] inline bool is_leasable(const Rule& rule) noexcept {
  if (const auto* of = std::get_if<RuleOf<FixedWindow>>(&rule)) return of->limit.calendar == nullptr;
  return visit_rule(rule, []<class A>(const RuleOf<A>&) { return can_be_leased<A>; });
}

// A holder's report about its slice, and its request.
//
// An answer may be lost, so the holder does not know which of its messages the store has applied. It therefore reports
// a running total, and the slice remembers the total of the last message applied: each used unit is charged once,
// whatever was lost, and units of a grant whose answer was lost are returned by the next message.
struct SliceMessage {
  std::uint64_t holder = 0;
  std::uint64_t number = 0;  // above that of every earlier message about this key
  std::uint64_t used = 0;    // units of slices that the holder has used so far, in all
  // Sliding window counters: the part of them that was used before `window`, the start of the holder's present window
  // by a clock that is not behind the store's. Each part is charged to its own window; 0: all to the present one.
  std::uint64_t used_before = 0;
  std::int64_t window = 0;
  std::uint64_t keep = 0;     // units that the holder continues to spend; the rest of the slice is returned
  std::uint64_t unasked = 0;  // units used without a slice: charged, into debt if necessary
  std::uint64_t want = 0;     // leased: units beyond those kept; approximate: the demand to provide for
  std::uint32_t nodes = 0;    // approximate: the number of nodes; 0: leased
  Duration lease{};           // how long a grant is leased
};

struct SliceAnswer {
  bool taken = false;         // false: the number is not above the previous one; nothing was done or granted
  std::uint64_t units = 0;    // units of the slice, including those kept
  Duration lasts{};           // until the slice expires, from the time of the answer
  std::uint64_t left = 0;     // units that are neither used nor leased
  std::uint64_t expired = 0;  // units of the holder's own slice that expired before the message
  std::uint64_t over = 0;     // units used without a slice that did not fit the limit

  friend bool operator==(const SliceAnswer&, const SliceAnswer&) = default;
};

struct Slice {
  std::uint64_t holder = 0;
  std::uint64_t number = 0;  // of the last message
  std::uint64_t units = 0;
  std::uint64_t demand = 0;  // approximate: decaying sum over about ten exchanges
  std::int64_t until = 0;    // expiration
  std::uint64_t used = 0;    // the holder's running total in the last message

  friend bool operator==(const Slice&, const Slice&) = default;
};

struct LeaseTotals {
  std::uint64_t count = 0;        // of slices
  std::uint64_t units = 0;        // leased
  std::uint64_t demand = 0;       // of all holders
  std::int64_t first_expiry = 0;  // a lower bound
  std::int64_t last_expiry = 0;   // an upper bound
  std::int64_t window = 0;        // fixed windows: the start of the window of all slices; otherwise 0

  friend bool operator==(const LeaseTotals&, const LeaseTotals&) = default;
};

class Ledger {
 public:
  static constexpr std::size_t max_slices = 1'024;
  static constexpr std::uint64_t max_units = 0xffff'ffff;  // of one slice, and of a demand
  static constexpr std::uint64_t min_grant = 4;

  LeaseTotals totals;
  // The known slices: all of them in a store's memory; in a replay, those that the script read, which are all if some
  // may have expired.
  std::vector<Slice> slices;

  // Charges and removes expired slices, in the order of expiration.
  template <class A>
  void expire(const typename A::Limit& limit, typename A::State& state, std::int64_t now);

  // The units of the holder's slice that have expired. Call before expire().
  [[nodiscard]] std::uint64_t expired_of(std::uint64_t holder, std::int64_t now) const noexcept {
    const auto slice = std::ranges::find(slices, holder, &Slice::holder);
    return slice != slices.end() && slice->until <= now ? slice->units : 0;
  }

  // Returns false for an outdated message.
  template <class A>
  bool report(const typename A::Limit& limit, typename A::State& state, const SliceMessage& message, std::int64_t now);

  // Like A::decide and A::peek, counting leased units. `retry_after` and `reset_after` assume that all leased units are
  // used when the last slice expires.
  template <class A>
  Decision decide(const typename A::Limit& limit, typename A::State& state, Cost cost, std::int64_t now) const;
  template <class A>
  [[nodiscard]] Decision peek(const typename A::Limit& limit, const typename A::State& state, Cost cost,
                              std::int64_t now) const;

  // Time until more than decision.remaining is available; see core::until_more.
  template <class A>
  [[nodiscard]] std::optional<Duration> until_more(const typename A::Limit& limit, const typename A::State& state,
                                                   const Decision& decision, std::int64_t now) const {
    if (decision.remaining >= decision.limit) return std::nullopt;
    return peek<A>(limit, state, Cost{decision.remaining + 1}, now).retry_after.value_or(decision.reset_after);
  }

  // Call after an accepted report.
  template <class A>
  [[nodiscard]] SliceAnswer grant(const typename A::Limit& limit, const typename A::State& state,
                                  const SliceMessage& message, std::int64_t now);

  // When the state and these slices can be forgotten.
  template <class A>
  [[nodiscard]] std::int64_t forget_at(const typename A::Limit& limit, const typename A::State& state) const;

  [[nodiscard]] bool empty() const noexcept { return totals.count == 0; }

 private:
  template <class A>
  static constexpr bool is_bucket = std::is_same_v<typename A::State, ArrivalState>;

  [[nodiscard]] std::vector<Slice>::iterator find(std::uint64_t holder) noexcept {
    return std::ranges::find(slices, holder, &Slice::holder);
  }

  // Resets an expired state that only the slices have kept alive.
  template <class A>
  static void forget_if_over(const typename A::Limit& limit, typename A::State& state, std::int64_t now) noexcept {
    if (micros(A::forget_at(limit, state)) <= now) state = {};
  }

  // Charges used units at `at` or, for a window, in the window that starts at `window`. The debt is at most one
  // capacity: only slices granted under earlier numbers can have more units.
  template <class A>
  static void charge(const typename A::Limit& limit, typename A::State& state, std::uint64_t units, std::int64_t window,
                     std::int64_t at) noexcept;
  // Charges units of slices that expire at `at`.
  template <class A>
  void charge_expired(const typename A::Limit& limit, typename A::State& state, std::uint64_t units,
                      std::int64_t at) const noexcept;
  template <class A>
  static std::uint64_t capacity(const typename A::Limit& limit) noexcept;
  template <class A>
  static std::uint64_t over(const typename A::Limit& limit, const typename A::State& state, std::int64_t now) noexcept;
  // The window that counts now.
  template <class A>
  [[nodiscard]] std::int64_t window_at(const typename A::Limit& limit, const typename A::State& state,
                                       std::int64_t now) const noexcept;
  // The state as if all leased units were charged now.
  template <class A>
  [[nodiscard]] typename A::State with_leased(const typename A::Limit& limit, const typename A::State& state,
                                              std::int64_t now) const noexcept;
  // Returns when a bucket will have room for a cost if the leased units are charged at the last expiration.
  template <class A>
  [[nodiscard]] std::int64_t fits_at(const typename A::Limit& limit, typename A::State state, Cost cost,
                                     std::int64_t now) const;
  // The units of a holder's slice of an approximate limit.
  [[nodiscard]] std::uint64_t share_of(const SliceMessage& message, std::uint64_t keep, std::uint64_t free,
                                       std::uint64_t demand, std::uint64_t demand_of_others) const noexcept;
  void remove(std::vector<Slice>::iterator slice) noexcept;
};

inline void Ledger::remove(std::vector<Slice>::iterator slice) noexcept {
  totals.units -= std::min(totals.units, slice->units);
  totals.demand -= std::min(totals.demand, slice->demand);
  --totals.count;
  slices.erase(slice);
  if (totals.count == 0) totals = {};
}

template <class A>
std::uint64_t Ledger::capacity(const typename A::Limit& limit) noexcept {
  if constexpr (is_bucket<A>) {
    return limit.burst;
  } else {
    return limit.limit;
  }
}

template <class A>
std::uint64_t Ledger::over(const typename A::Limit& limit, const typename A::State& state, std::int64_t now) noexcept {
  if constexpr (is_bucket<A>) {
    const std::int64_t excess = limit.difference(state.used(limit, now), limit.fill).rounded_up().count();
    if (excess <= 0) return 0;
    return multiply_divide_ceil(static_cast<std::uint64_t>(excess), static_cast<std::uint64_t>(limit.count),
                                static_cast<std::uint64_t>(limit.per));
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    return state.end > now ? state.count - std::min(state.count, limit.limit) : 0;
  } else {
    const std::uint64_t used = A::used(limit, state, now);
    return used - std::min(used, limit.limit);
  }
}

template <class A>
void Ledger::charge(const typename A::Limit& limit, typename A::State& state, std::uint64_t units, std::int64_t window,
                    std::int64_t at) noexcept {
  units = std::min(units, capacity<A>(limit));
  if (units == 0) return;
  if constexpr (is_bucket<A>) {
    A::owe(limit, state, Cost{units}, instant_at(at));
  } else {
    const auto add = [&](std::uint64_t& count) { count = std::min(count + units, std::max(count, 2 * limit.limit)); };
    if constexpr (std::is_same_v<A, FixedWindow>) {
      const std::int64_t end = window + limit.window;
      if (end > state.end) state = {end, 0};
      if (end == state.end) add(state.count);
    } else {
      if (window > state.start) {
        state = {window, window - limit.window == state.start ? state.current : 0, 0};
      }
      if (window == state.start) add(state.current);
      if (window == state.start - limit.window) add(state.previous);
    }
  }
}

template <class A>
void Ledger::charge_expired(const typename A::Limit& limit, typename A::State& state, std::uint64_t units,
                            std::int64_t at) const noexcept {
  std::int64_t window = totals.window;
  if constexpr (std::is_same_v<A, SlidingWindowCounter>) window = window_start(at, limit.window);
  charge<A>(limit, state, units, window, at);
}

template <class A>
void Ledger::expire(const typename A::Limit& limit, typename A::State& state, std::int64_t now) {
  if (empty() || now < totals.first_expiry) return;
  std::ranges::stable_sort(slices, {}, &Slice::until);
  std::uint64_t lost = totals.units;
  LeaseTotals live{.first_expiry = totals.last_expiry, .window = totals.window};
  for (const Slice& slice : slices) {
    lost -= std::min(lost, slice.units);
    if (slice.until <= now) {
      charge_expired<A>(limit, state, slice.units, slice.until);
      continue;
    }
    ++live.count;
    live.units += slice.units;
    live.demand += slice.demand;
    live.first_expiry = std::min(live.first_expiry, slice.until);
    live.last_expiry = std::max(live.last_expiry, slice.until);
  }
  charge<A>(limit, state, lost, window_at<A>(limit, state, now), now);
  std::erase_if(slices, [&](const Slice& slice) { return slice.until <= now; });
  totals = live.count == 0 ? LeaseTotals{} : live;
  forget_if_over<A>(limit, state, now);
}

template <class A>
bool Ledger::report(const typename A::Limit& limit, typename A::State& state, const SliceMessage& message,
                    std::int64_t now) {
  const auto slice = find(message.holder);
  if (slice == slices.end()) {
    charge<A>(limit, state, message.unasked, window_at<A>(limit, state, now), now);
    return true;
  }
  if (message.number <= slice->number) return false;
  forget_if_over<A>(limit, state, now);
  const std::uint64_t charged_so_far = message.used < slice->used ? 0 : slice->used;  // 0: the total starts again
  const std::uint64_t used = std::min(slice->units, message.used - charged_so_far);
  const std::int64_t window = window_at<A>(limit, state, now);
  std::int64_t charged_window = window;
  std::uint64_t keep = std::min(message.keep, slice->units - used);
  if constexpr (std::is_same_v<A, FixedWindow>) {
    charged_window = totals.window;
    if (totals.window != window) keep = 0;  // the clock stepped back: what was granted cannot be spent any more
  }
  totals.units -= std::min(totals.units, slice->units - keep);
  slice->units = keep;
  slice->number = message.number;
  slice->used = message.used;
  if constexpr (std::is_same_v<A, SlidingWindowCounter>) {
    const std::int64_t theirs = message.window == 0 ? window : message.window;
    const std::uint64_t before = std::min(used, message.used_before - std::min(message.used_before, charged_so_far));
    charge<A>(limit, state, before, std::min(theirs - limit.window, window), now);
    charged_window = std::min(theirs, window);
    charge<A>(limit, state, used - before, charged_window, now);
  } else {
    charge<A>(limit, state, used, charged_window, now);
  }
  charge<A>(limit, state, message.unasked, window, now);
  return true;
}

template <class A>
std::int64_t Ledger::window_at(const typename A::Limit& limit, const typename A::State& state,
                               std::int64_t now) const noexcept {
  if constexpr (is_bucket<A>) {
    return 0;
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    return std::max({window_start(now, limit.window), state.end - limit.window, totals.window});
  } else {
    return std::max(window_start(now, limit.window), state.start);
  }
}

template <class A>
typename A::State Ledger::with_leased(const typename A::Limit& limit, const typename A::State& state,
                                      std::int64_t now) const noexcept {
  typename A::State with = state;
  if constexpr (is_bucket<A>) {
    const std::uint64_t units = std::min(totals.units, limit.burst);
    if (units > 0) with.set_used(limit.sum(state.used(limit, now), limit.worth(units)), now);
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    charge<A>(limit, with, totals.units, totals.window, now);
  } else {
    charge<A>(limit, with, totals.units, window_at<A>(limit, state, now), now);
  }
  return with;
}

template <class A>
std::int64_t Ledger::fits_at(const typename A::Limit& limit, typename A::State state, Cost cost,
                             std::int64_t now) const {
  const auto fits = [&](std::uint64_t leased, std::int64_t from) -> std::optional<std::int64_t> {
    if (leased > limit.burst || cost.units() > limit.burst - leased) return {};
    const FineSpan room = limit.difference(limit.fill, limit.worth(leased + cost.units()));
    return from + limit.difference(state.used(limit, from), room).rounded_up().count();
  };
  if (const auto at = fits(totals.units, now); at && *at < totals.last_expiry) return *at;
  const std::int64_t from = std::max(now, totals.last_expiry);
  charge<A>(limit, state, totals.units, 0, from);
  return *fits(0, from);
}

template <class A>
Decision Ledger::decide(const typename A::Limit& limit, typename A::State& state, Cost cost, std::int64_t now) const {
  const Decision decision = peek<A>(limit, state, cost, now);
  if (!decision.admitted) return decision;
  if constexpr (is_bucket<A>) {
    (void)A::decide(limit, state, cost, instant_at(now));
  } else {
    charge<A>(limit, state, cost.units(), window_at<A>(limit, state, now), now);
  }
  return decision;
}

template <class A>
Decision Ledger::peek(const typename A::Limit& limit, const typename A::State& state, Cost cost,
                      std::int64_t now) const {
  typename A::State with = with_leased<A>(limit, state, now);
  Decision decision = A::decide(limit, with, cost, instant_at(now));
  if constexpr (is_bucket<A>) {
    if (empty()) return decision;
    if (!decision.admitted && decision.retry_after) {
      decision.retry_after = Duration{fits_at<A>(limit, state, cost, now) - now};
    }
    typename A::State later = state;
    if (decision.admitted) (void)A::decide(limit, later, cost, instant_at(now));
    charge<A>(limit, later, totals.units, 0, std::max(now, totals.last_expiry));
    decision.reset_after = std::max(Duration::zero(), A::forget_at(limit, later) - instant_at(now));
  }
  return decision;
}

inline std::uint64_t Ledger::share_of(const SliceMessage& message, std::uint64_t keep, std::uint64_t free,
                                      std::uint64_t demand, std::uint64_t demand_of_others) const noexcept {
  const std::uint64_t want = std::min(message.want, max_units);
  const std::uint64_t unused = free + totals.units;  // available without the leased units
  const std::uint64_t others = totals.units - std::min(totals.units, keep);
  const std::uint64_t counted = std::min(unused, max_units);
  const std::uint64_t least = multiply_divide_ceil(counted, 1, std::uint64_t{4} * message.nodes);
  const std::uint64_t all = demand + demand_of_others;
  std::uint64_t part = least;
  if (all > 0) part = std::max(part, multiply_divide_ceil(counted, demand, all));
  part = std::min(part, least + 4 * want);  // the rest is left for other holders
  return std::max(keep, std::min(part, unused - std::min(unused, others)));
}

template <class A>
SliceAnswer Ledger::grant(const typename A::Limit& limit, const typename A::State& state, const SliceMessage& message,
                          std::int64_t now) {
  SliceAnswer answer{.taken = true, .over = over<A>(limit, state, now)};
  const std::int64_t window = window_at<A>(limit, state, now);
  auto slice = find(message.holder);
  const bool is_known = slice != slices.end();
  const std::uint64_t keep = is_known ? slice->units : 0;
  const std::uint64_t free = A::peek(limit, with_leased<A>(limit, state, now), Cost{0}, instant_at(now)).remaining;
  const std::uint64_t want = std::min(message.want, max_units);

  std::uint64_t units = keep;
  std::uint64_t demand = 0;
  if (message.nodes == 0) {
    const std::uint64_t half = capacity<A>(limit) / 2;
    const std::uint64_t more = std::min({want, free / 2, half - std::min(half, totals.units)});
    if (more >= min_grant) units = std::min(keep + more, max_units);
  } else if (want > 0) {
    const std::uint64_t before = is_known ? slice->demand : 0;
    demand = std::min(before - before / 10 + want, max_units);
    units = share_of(message, keep, free, demand, totals.demand - std::min(totals.demand, before));
  }

  // A holder of an approximate limit that gets nothing stays known, so that its demand counts.
  const bool stays = units > 0 || (message.nodes > 0 && want > 0);
  if (!stays || (!is_known && totals.count >= max_slices)) {
    if (is_known) remove(slice);
    answer.left = free;
    return answer;
  }
  std::int64_t until = now + message.lease.count();
  if constexpr (std::is_same_v<A, FixedWindow>) {
    until = std::min(until, window + limit.window);
    totals.window = window;
  }
  if (!is_known) {
    ++totals.count;
    slice = slices.insert(slices.end(), {.holder = message.holder});
  }
  const bool is_only = totals.count == 1;
  totals.units += units - keep;
  totals.demand += demand - std::min(totals.demand, slice->demand);
  totals.first_expiry = is_only ? until : std::min(totals.first_expiry, until);
  totals.last_expiry = is_only ? until : std::max(totals.last_expiry, until);
  *slice = {message.holder, message.number, units, demand, until, message.used};
  answer.units = units;
  answer.lasts = Duration{until - now};
  answer.left = free - std::min(free, units - keep);
  return answer;
}

template <class A>
std::int64_t Ledger::forget_at(const typename A::Limit& limit, const typename A::State& state) const {
  const std::int64_t at = std::max(micros(A::forget_at(limit, state)), totals.last_expiry);
  if constexpr (is_bucket<A>) {
    typename A::State later = state;
    charge<A>(limit, later, totals.units, 0, totals.last_expiry);
    return std::max(at, micros(A::forget_at(limit, later)));
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    return std::max(at, totals.window + limit.window);
  } else {
    return std::max(at, window_start(totals.last_expiry, limit.window) + 2 * limit.window);
  }
}

}  // namespace weir::core
