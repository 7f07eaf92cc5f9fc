// The exact arithmetic that token bucket, GCRA and leaky bucket share: one theoretical arrival time (TAT).
//
// At N tokens per P microseconds a token is worth P/N microseconds, which is rarely whole. Every duration here is
// therefore kept in whole microseconds and N-ths of one: nothing is rounded, nothing drifts.
//
// Invariants: for a FineSpan, 0 <= nths < N. For the state, TAT <= now + 2 x fill at the last write, by the numbers at
// that time. All products fit 64 bits, because Limit rejects burst x N > 2^53 and a time to fill over ten years.
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

  // Compares one wide number instead of branching: whether a charge fits is unpredictable.
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
  FineSpan token;               // the time that one token is worth
  FineSpan fill;                // the time that `burst` tokens are worth
  FineSpan reach = unbounded;   // the farthest that a state can be ahead of now under these numbers
  std::int64_t total_nths = 0;  // `fill` in nths, if counts_in_64_bits
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

  // The time that `tokens` are worth, for up to two bursts.
  [[nodiscard]] constexpr FineSpan worth(std::uint64_t tokens) const noexcept {
    if (tokens == 1) [[likely]]
      return token;
    const auto n = static_cast<std::int64_t>(tokens);
    const std::int64_t nths = n * token.nths;
    return {n * token.whole + nths / count, nths % count};
  }

  // The number of whole tokens remaining.
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

  // The number of whole tokens that a span is worth.
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

  // a - b, or zero if b is longer.
  [[nodiscard]] constexpr FineSpan difference(FineSpan a, FineSpan b) const noexcept {
    if (a <= b) return {};
    const std::int64_t nths = a.nths - b.nths;
    return nths >= 0 ? FineSpan{a.whole - b.whole, nths} : FineSpan{a.whole - b.whole - 1, nths + count};
  }
};

struct ArrivalState {
  std::int64_t whole = never;  // the TAT
  std::int64_t nths = 0;

  // Returns how far the TAT is ahead of now, which is the usage not yet refilled. If the state was written under other
  // numbers, nths that do not fit round up to a whole microsecond, and a TAT beyond the reach counts as the reach.
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
  // Usage before and after a charge, and whether the charge fits the limit.
  struct Charge {
    FineSpan before;
    FineSpan after;
    bool admitted;
  };

  // charge() and describe() are decide() in two steps, so that a caller can release its lock in between. The cost must
  // be at most the burst. Always inlined, so that the state stays in registers.
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
    // Negative nths need no borrow: the value is then less than a microsecond below `whole`, so it rounds up to
    // `whole`.
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

  // Lowers the TAT by the visible part of the charge, which is the part not yet refilled, and at most by the cost.
  // Returns by how much.
  static FineSpan refund(const ArrivalLimit& limit, ArrivalState& state, Cost cost, const Charged& charged,
                         Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const FineSpan visible{std::max<std::int64_t>(0, micros(charged.full_at) - now), 0};
    return credit(limit, state, limit.worth(std::min(cost.units(), 2 * limit.burst)), visible, now);
  }

  // Like refund(), but gives back at most `most` and at most the `visible` part of the charge.
  static FineSpan credit(const ArrivalLimit& limit, ArrivalState& state, FineSpan most, FineSpan visible,
                         std::int64_t now) noexcept {
    const FineSpan used = state.used(limit, now);
    const FineSpan back = std::min({most, visible, used});
    state.set_used(limit.difference(used, back), now);
    return back;
  }

  // Charges even if the limit is exceeded; the debt is at most one burst. Returns the tokens that did not fit.
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

  // Clamps a state that is beyond the reach to the reach. Returns true if that changed it.
  static bool bring_within_reach(const ArrivalLimit& limit, ArrivalState& state, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    if (state.used(limit, now) < limit.reach) return false;
    const ArrivalState before = state;
    state.set_used(limit.reach, now);
    return state != before;
  }

  // When the state can be forgotten.
  static Instant forget_at(const ArrivalLimit& /*limit*/, const ArrivalState& state) noexcept {
    return instant_at(state.whole + (state.nths > 0 ? 1 : 0));
  }
};

}  // namespace weir::core
