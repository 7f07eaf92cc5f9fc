// The leased slices of one state: units that a holder may spend until a given time without asking.
//
// A grant charges nothing: its units are leased. Every decision counts used and leased units. Units are charged when
// the holder reports them as used; all remaining units of a slice are charged when it expires. A return removes units
// and refunds nothing, since nothing was charged.
//
// Why no more than the limit is ever admitted: let u be what is used. Grants keep u + leased <= burst; a report or an
// expiration moves units from leased to u; time only lowers u. With T = t2 - t1, what is admitted in (t1, t2] is
// charged by t2 or still leased then, so it is at most u(t2) + leased(t2) + T/token - u(t1) <= burst + T/token.
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
struct SliceMessage {
  std::uint64_t holder = 0;
  std::uint64_t number = 0;   // above that of every earlier message about this key
  std::uint64_t keep = 0;     // units that the holder continues to spend
  std::uint64_t back = 0;     // units returned; the rest of the slice is used
  std::uint64_t unasked = 0;  // units used without a slice: charged, into debt if necessary
  std::uint64_t want = 0;     // leased: units beyond those kept; approximate: demand since the last message
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
  std::int64_t window = 0;   // start of its window; 0 for buckets

  friend bool operator==(const Slice&, const Slice&) = default;
};

class Ledger {
 public:
  static constexpr std::size_t max_slices = 1'024;
  static constexpr std::uint64_t max_units = 0xffff'ffff;  // of one slice, and of a demand
  static constexpr std::uint64_t min_grant = 4;

  std::vector<Slice> slices;  // in the order in which the holders first appeared

  // Charges and removes expired slices, in the order of expiration.
  template <class A>
  void expire(const typename A::Limit& limit, typename A::State& state, std::int64_t now);

  // The units of the holder's slice that have expired.
  [[nodiscard]] std::uint64_t expired_of(std::uint64_t holder, std::int64_t now) const noexcept {
    const auto slice = std::ranges::find(slices, holder, &Slice::holder);
    return slice != slices.end() && slice->until <= now ? slice->units : 0;
  }

  // Returns false for an outdated message.
  template <class A>
  bool report(const typename A::Limit& limit, typename A::State& state, const SliceMessage& message, std::int64_t now);

  // Like A::decide and A::peek, counting leased units. `retry_after` and `reset_after` assume that every slice is used.
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

  [[nodiscard]] std::uint64_t leased_units() const noexcept;
  [[nodiscard]] std::uint64_t leased_to_others(std::uint64_t holder) const noexcept;

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

  // Charges used units at `at` or, for a window, in the window in which they were granted. The debt is at most one
  // capacity: only a slice granted under earlier numbers can have more units.
  template <class A>
  static void charge(const typename A::Limit& limit, typename A::State& state, std::uint64_t units, std::int64_t window,
                     std::int64_t at) noexcept;
  template <class A>
  static std::uint64_t capacity(const typename A::Limit& limit) noexcept;
  template <class A>
  static std::uint64_t over(const typename A::Limit& limit, const typename A::State& state, std::int64_t now) noexcept;
  // The window that counts now.
  template <class A>
  [[nodiscard]] std::int64_t window_at(const typename A::Limit& limit, const typename A::State& state,
                                       std::int64_t now) const noexcept;
  template <class A>
  [[nodiscard]] std::uint64_t leased_in(std::int64_t window) const noexcept;
  // The state as if all leased units were charged now.
  template <class A>
  [[nodiscard]] typename A::State with_leased(const typename A::Limit& limit, const typename A::State& state,
                                              std::int64_t now) const noexcept;
  // Returns when a bucket will have room for a cost if every slice is charged when it expires.
  template <class A>
  [[nodiscard]] std::int64_t fits_at(const typename A::Limit& limit, typename A::State state, Cost cost,
                                     std::int64_t now) const;
  [[nodiscard]] std::vector<Slice> by_end() const;
};

inline std::uint64_t Ledger::leased_units() const noexcept {
  std::uint64_t sum = 0;
  for (const Slice& slice : slices) sum += slice.units;
  return sum;
}

inline std::uint64_t Ledger::leased_to_others(std::uint64_t holder) const noexcept {
  std::uint64_t sum = 0;
  for (const Slice& slice : slices) sum += slice.holder == holder ? 0 : slice.units;
  return sum;
}

template <class A>
std::uint64_t Ledger::leased_in(std::int64_t window) const noexcept {
  std::uint64_t sum = 0;
  for (const Slice& slice : slices) sum += slice.window == window ? slice.units : 0;
  return sum;
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

inline std::vector<Slice> Ledger::by_end() const {
  std::vector<Slice> ordered = slices;
  std::ranges::stable_sort(ordered, {}, &Slice::until);
  return ordered;
}

template <class A>
void Ledger::expire(const typename A::Limit& limit, typename A::State& state, std::int64_t now) {
  const auto has_expired = [&](const Slice& slice) { return slice.until <= now; };
  if (std::ranges::none_of(slices, has_expired)) return;
  for (const Slice& slice : by_end()) {
    if (has_expired(slice)) charge<A>(limit, state, slice.units, slice.window, slice.until);
  }
  std::erase_if(slices, has_expired);
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
  // Units granted in another window (the clock stepped back) are charged to that window.
  const bool is_present = slice->window == window_at<A>(limit, state, now);
  const std::uint64_t keep = is_present ? std::min(message.keep, slice->units) : 0;
  const std::uint64_t back = std::min(message.back, slice->units - keep);
  const std::uint64_t used = slice->units - keep - back;
  slice->units = keep;
  slice->number = message.number;
  charge<A>(limit, state, used, slice->window, now);
  charge<A>(limit, state, message.unasked, window_at<A>(limit, state, now), now);
  return true;
}

template <class A>
std::int64_t Ledger::window_at(const typename A::Limit& limit, const typename A::State& state,
                               std::int64_t now) const noexcept {
  if constexpr (is_bucket<A>) {
    return 0;
  } else {
    std::int64_t window = window_start(now, limit.window);
    if constexpr (std::is_same_v<A, FixedWindow>) {
      window = std::max(window, state.end - limit.window);
    } else {
      window = std::max(window, state.start);
    }
    for (const Slice& slice : slices) window = std::max(window, slice.window);
    return window;
  }
}

template <class A>
typename A::State Ledger::with_leased(const typename A::Limit& limit, const typename A::State& state,
                                      std::int64_t now) const noexcept {
  typename A::State with = state;
  if constexpr (is_bucket<A>) {
    const std::uint64_t units = std::min(leased_units(), limit.burst);
    if (units > 0) with.set_used(limit.sum(state.used(limit, now), limit.worth(units)), now);
  } else {
    for (const Slice& slice : slices) charge<A>(limit, with, slice.units, slice.window, now);
  }
  return with;
}

template <class A>
std::int64_t Ledger::fits_at(const typename A::Limit& limit, typename A::State state, Cost cost,
                             std::int64_t now) const {
  std::uint64_t leased_then = leased_units();
  std::int64_t from = now;
  const auto fits = [&]() -> std::optional<std::int64_t> {
    if (leased_then > limit.burst || cost.units() > limit.burst - leased_then) return {};
    const FineSpan room = limit.difference(limit.fill, limit.worth(leased_then + cost.units()));
    return from + limit.difference(state.used(limit, from), room).rounded_up().count();
  };
  for (const Slice& slice : by_end()) {
    if (const auto at = fits(); at && *at < slice.until) return *at;
    from = std::max(from, slice.until);
    charge<A>(limit, state, slice.units, slice.window, from);
    leased_then -= slice.units;
  }
  return *fits();
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
    if (slices.empty()) return decision;
    if (!decision.admitted && decision.retry_after) {
      decision.retry_after = Duration{fits_at<A>(limit, state, cost, now) - now};
    }
    typename A::State later = state;
    if (decision.admitted) (void)A::decide(limit, later, cost, instant_at(now));
    for (const Slice& slice : by_end()) charge<A>(limit, later, slice.units, slice.window, std::max(now, slice.until));
    decision.reset_after = std::max(Duration::zero(), A::forget_at(limit, later) - instant_at(now));
  }
  return decision;
}

template <class A>
SliceAnswer Ledger::grant(const typename A::Limit& limit, const typename A::State& state, const SliceMessage& message,
                          std::int64_t now) {
  SliceAnswer answer{.taken = true, .over = over<A>(limit, state, now)};
  const std::int64_t window = window_at<A>(limit, state, now);
  auto slice = find(message.holder);
  const std::uint64_t keep = slice == slices.end() ? 0 : slice->units;
  const std::uint64_t leased_now = is_bucket<A> ? leased_units() : leased_in<A>(window);
  const std::uint64_t free = A::peek(limit, with_leased<A>(limit, state, now), Cost{0}, instant_at(now)).remaining;
  const bool has_room = slice != slices.end() || slices.size() < max_slices;
  const std::uint64_t want = std::min(message.want, max_units);

  std::uint64_t units = keep;
  std::uint64_t demand = 0;
  if (message.nodes == 0) {
    const std::uint64_t half = capacity<A>(limit) / 2;
    const std::uint64_t more = std::min({want, free / 2, half - std::min(half, leased_now)});
    if (more >= min_grant) units = std::min(keep + more, max_units);
  } else {
    const std::uint64_t others = leased_now - keep;
    const std::uint64_t unused = free + leased_now;  // available without the leased units
    std::uint64_t all = 0;
    for (const Slice& other : slices) all += other.holder == message.holder ? 0 : other.demand;
    demand = std::min((slice == slices.end() ? 0 : slice->demand - slice->demand / 10) + want, max_units);
    all += demand;
    const std::uint64_t counted = std::min(unused, max_units);
    const std::uint64_t least = multiply_divide_ceil(counted, 1, std::uint64_t{4} * message.nodes);
    std::uint64_t part = least;
    if (all > 0) part = std::max(part, multiply_divide_ceil(counted, demand, all));
    part = std::min(part, least + 4 * want);  // the rest is left for other holders
    units = std::max(keep, std::min(part, unused - std::min(unused, others)));
  }

  const bool stays = units > 0 || message.nodes > 0;
  if (!has_room || !stays) {
    if (slice != slices.end()) slices.erase(slice);
    answer.left = free;
    return answer;
  }
  if (slice == slices.end()) slice = slices.insert(slices.end(), {.holder = message.holder});
  std::int64_t until = now + message.lease.count();
  if constexpr (!is_bucket<A>) until = std::min(until, window + limit.window);
  *slice = {message.holder, message.number, units, demand, until, window};
  answer.units = units;
  answer.lasts = Duration{until - now};
  answer.left = free - std::min(free, units - keep);
  return answer;
}

template <class A>
std::int64_t Ledger::forget_at(const typename A::Limit& limit, const typename A::State& state) const {
  std::int64_t at = micros(A::forget_at(limit, state));
  if constexpr (is_bucket<A>) {
    typename A::State later = state;
    for (const Slice& slice : by_end()) {
      charge<A>(limit, later, slice.units, slice.window, slice.until);
      at = std::max({at, slice.until, micros(A::forget_at(limit, later))});
    }
  } else {
    for (const Slice& slice : slices) {
      const std::int64_t windows = std::is_same_v<A, FixedWindow> ? 1 : 2;
      at = std::max({at, slice.until, slice.window + windows * limit.window});
    }
  }
  return at;
}

}  // namespace weir::core
