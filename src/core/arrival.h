// The exact arithmetic that token bucket, GCRA and leaky bucket share: one theoretical arrival time (TAT).
//
// At N tokens per P microseconds a token is worth P/N microseconds, which is rarely whole. So every length
// of time here is kept in whole microseconds and N-ths of one: nothing is ever rounded, nothing drifts.
//
// Invariants of a FineSpan: 0 <= nths < N. Of the state: TAT <= now + 2 x fill at the last write, by the numbers of
// then. All products fit 64 bits, because Limit refuses burst x N > 2^53 and a time to fill over ten years.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/arithmetic.h"
#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::core {

struct FineSpan {
  std::int64_t whole = 0;
  std::int64_t nths = 0;

  [[nodiscard]] constexpr Duration rounded_up() const noexcept { return Duration{whole + (nths > 0 ? 1 : 0)}; }

  friend constexpr auto operator<=>(const FineSpan&, const FineSpan&) noexcept = default;

  // As one wide number, which takes no branch: whether a charge fits is the one thing nobody can predict.
  friend constexpr bool operator<=(const FineSpan& a, const FineSpan& b) noexcept {
    return static_cast<SignedWide>(a.wide()) <= static_cast<SignedWide>(b.wide());
  }

 private:
  __extension__ using SignedWide = __int128;
  [[nodiscard]] constexpr Wide wide() const noexcept {
    return (static_cast<Wide>(whole) << 64) | static_cast<std::uint64_t>(nths);
  }
};

struct ArrivalLimit {
  std::uint64_t burst = 0;
  std::int64_t count = 0;       // N
  std::int64_t per = 0;         // P
  FineSpan token;               // what one token is worth
  FineSpan fill;                // what `burst` tokens are worth
  FineSpan reach = unbounded;   // a state that lies further ahead of now was written under other numbers
  std::int64_t total_nths = 0;  // of `fill`, if they can be counted
  bool counts_in_64_bits = false;

  static constexpr FineSpan unbounded{std::numeric_limits<std::int64_t>::max(), 0};

  ArrivalLimit() = default;
  explicit ArrivalLimit(const Limit& limit) noexcept
      : burst(limit.capacity()),
        count(static_cast<std::int64_t>(limit.rate().count)),
        per(limit.rate().per.count()),
        token{per / count, per % count},
        fill(worth(burst)) {
    std::int64_t units = 0;
    counts_in_64_bits = !__builtin_mul_overflow(fill.whole + 1, count, &units);
    if (counts_in_64_bits) total_nths = fill.whole * count + fill.nths;
  }

  // What `tokens` are worth in time, for up to two bursts.
  [[nodiscard]] constexpr FineSpan worth(std::uint64_t tokens) const noexcept {
    if (tokens == 1) [[likely]]
      return token;
    const auto n = static_cast<std::int64_t>(tokens);
    const std::int64_t nths = n * token.nths;
    return {n * token.whole + nths / count, nths % count};
  }

  // How many whole tokens are left with so much used.
  [[nodiscard]] [[gnu::always_inline]] constexpr std::uint64_t tokens_left(FineSpan used) const noexcept {
    const Choice some(used <= fill);
    const std::int64_t whole = some.or_zero(fill.whole - used.whole);
    const std::int64_t nths = some.or_zero(fill.nths - used.nths);
    if (counts_in_64_bits) [[likely]]
      return static_cast<std::uint64_t>(whole * count + nths) / static_cast<std::uint64_t>(per);
    const Wide units =
        Wide{static_cast<std::uint64_t>(whole)} * static_cast<std::uint64_t>(count) + static_cast<Wide>(nths);
    return static_cast<std::uint64_t>(units / static_cast<std::uint64_t>(per));
  }

  // How many whole tokens a span is worth.
  [[nodiscard]] constexpr std::uint64_t tokens_in(FineSpan span) const noexcept {
    const Wide units =
        Wide{static_cast<std::uint64_t>(span.whole)} * static_cast<std::uint64_t>(count) + static_cast<Wide>(span.nths);
    return static_cast<std::uint64_t>(units / static_cast<std::uint64_t>(per));
  }

  [[nodiscard]] constexpr FineSpan sum(FineSpan a, FineSpan b) const noexcept {
    const std::int64_t nths = a.nths + b.nths;
    const bool carries = nths >= count;
    return {a.whole + b.whole + (carries ? 1 : 0), nths - (carries ? count : 0)};
  }

  // a - b, and zero if b is the longer.
  [[nodiscard]] constexpr FineSpan difference(FineSpan a, FineSpan b) const noexcept {
    if (a <= b) return {};
    const std::int64_t nths = a.nths - b.nths;
    return nths >= 0 ? FineSpan{a.whole - b.whole, nths} : FineSpan{a.whole - b.whole - 1, nths + count};
  }
};

struct ArrivalState {
  std::int64_t whole = never;  // the TAT
  std::int64_t nths = 0;

  // How far the TAT lies ahead of now: what is used and not yet refilled. Under other numbers than it was written by,
  // nths that do not fit round up one microsecond, and what is beyond reach counts as the reach.
  [[nodiscard]] constexpr FineSpan used(const ArrivalLimit& limit, std::int64_t now) const noexcept {
    const bool fits = nths < limit.count;
    const std::int64_t ahead = whole - now + (fits ? 0 : 1);
    const bool is_ahead = ahead >= 0;
    const FineSpan used{is_ahead ? ahead : 0, is_ahead && fits ? nths : 0};
    return used <= limit.reach ? used : limit.reach;
  }

  constexpr void set_used(FineSpan used, std::int64_t now) noexcept {
    whole = now + used.whole;
    nths = used.nths;
  }

  friend constexpr bool operator==(const ArrivalState&, const ArrivalState&) noexcept = default;
};

// The operations that every algorithm on an arrival time shares.
struct ArrivalOperations {
  // What was used before and would be after a charge, and whether that is within the limit.
  struct Charge {
    FineSpan before;
    FineSpan after;
    bool admitted;
  };

  // decide in two steps, so that a caller that holds a lock need not hold it while the answer is put into words.
  // The cost is at most the burst. Always inlined, so that the state stays in registers.
  [[gnu::always_inline]] static Charge charge(const ArrivalLimit& limit, ArrivalState& state, Cost cost,
                                              std::int64_t now) noexcept {
    const FineSpan before = state.used(limit, now);
    const FineSpan after = limit.sum(before, limit.worth(cost.units()));
    const bool admitted = after <= limit.fill;
    if (admitted && cost.units() > 0) state.set_used(after, now);
    return {before, after, admitted};
  }

  [[gnu::always_inline]] static Decision describe(const ArrivalLimit& limit, const Charge& charge,
                                                  std::int64_t now) noexcept {
    const Choice denied(!charge.admitted);
    const FineSpan used{denied.of(charge.before.whole, charge.after.whole),
                        denied.of(charge.before.nths, charge.after.nths)};
    // Rounding up takes no borrow: below zero, the nths only undo the part that whole microseconds overshoot.
    const FineSpan over{charge.after.whole - limit.fill.whole, charge.after.nths - limit.fill.nths};
    return {.admitted = charge.admitted,
            .limit = limit.burst,
            .remaining = limit.tokens_left(used),
            .retry_after = Duration{denied.or_zero(over.rounded_up().count())},
            .reset_after = used.rounded_up(),
            .charged_at = instant_at(now)};
  }

  [[gnu::always_inline]] static Decision decide(const ArrivalLimit& limit, ArrivalState& state, Cost cost,
                                                Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    if (cost.units() <= limit.burst) [[likely]]
      return describe(limit, charge(limit, state, cost, now), now);
    const FineSpan used = state.used(limit, now);
    return {.limit = limit.burst,
            .remaining = limit.tokens_left(used),
            .retry_after = std::nullopt,
            .reset_after = used.rounded_up(),
            .charged_at = instant_at(now)};
  }

  static Decision peek(const ArrivalLimit& limit, const ArrivalState& state, Cost cost, Instant now) noexcept {
    ArrivalState copy = state;
    return decide(limit, copy, cost, now);
  }

  // The TAT falls by what is still visible of the charge, at most the cost. Says by how much.
  static FineSpan refund(const ArrivalLimit& limit, ArrivalState& state, Cost cost, const Charged& charged,
                         Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const FineSpan visible{std::max<std::int64_t>(0, micros(charged.full_at) - now), 0};
    return credit(limit, state, limit.worth(std::min(cost.units(), 2 * limit.burst)), visible, now);
  }

  // The same for what is worth `most`, of a charge of which so much is visible.
  static FineSpan credit(const ArrivalLimit& limit, ArrivalState& state, FineSpan most, FineSpan visible,
                         std::int64_t now) noexcept {
    const FineSpan used = state.used(limit, now);
    const FineSpan back = std::min({most, visible, used});
    state.set_used(limit.difference(used, back), now);
    return back;
  }

  // Charges without asking, into a debt of at most one burst. Says how many tokens there was no room for.
  static std::uint64_t owe(const ArrivalLimit& limit, ArrivalState& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const FineSpan used = state.used(limit, now);
    const FineSpan more = limit.worth(std::min(cost.units(), 2 * limit.burst));
    const FineSpan deepest = limit.sum(limit.fill, limit.fill);
    state.set_used(std::min(limit.sum(used, more), std::max(used, deepest)), now);
    return cost.units() - std::min(cost.units(), limit.tokens_in(limit.difference(deepest, used)));
  }

  // Applies these numbers to a state that was written under others.
  static void carry_over(const ArrivalLimit& limit, ArrivalState& state, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    state.set_used(std::min(state.used(limit, now), limit.fill), now);
  }

  // What is beyond reach lies within it from now on. True if it did not.
  static bool bring_within_reach(const ArrivalLimit& limit, ArrivalState& state, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    if (state.used(limit, now) < limit.reach) return false;
    const ArrivalState before = state;
    state.set_used(limit.reach, now);
    return state != before;
  }

  // From then on the state is as good as never seen.
  static Instant forget_at(const ArrivalLimit& /*limit*/, const ArrivalState& state) noexcept {
    return instant_at(state.whole + (state.nths > 0 ? 1 : 0));
  }
};

}  // namespace weir::core
