// Charges a state in its cell, under the cell's lock. The decision is described after the lock is released.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/arithmetic.h"
#include "core/rule.h"
#include "table/packing.h"

namespace weir::table {

// True if a decision of this algorithm consists of a charge and a later description.
template <class A>
inline constexpr bool describes_later = on_arrival_time<A> && !std::is_same_v<A, core::LeakyBucketQueue>;

// A charge to a packed state. This generic form works for any payload and uses A::charge and A::describe. `Terms` has
// the inputs of a charge other than the state: limit, cost and instant. Successive keys can share it.
template <class A, class Payload>
struct PackedCharge {
  struct Terms {
    const typename A::Limit& limit;
    Cost cost;
    std::int64_t now;
  };

  typename A::Charge charge;

  // The cost must be from 1 to the burst.
  static Terms terms(const typename A::Limit& limit, Cost cost, std::int64_t now) noexcept {
    return {limit, cost, now};
  }

  static PackedCharge make(const Terms& terms, Payload& payload) noexcept {
    auto state = Packing<A, Payload>::unpack(terms.limit, payload, terms.now);
    const auto charge = A::charge(terms.limit, state, terms.cost, terms.now);
    if (charge.admitted) payload = Packing<A, Payload>::pack(terms.limit, state);
    return {charge};
  }

  [[nodiscard]] bool admitted() const noexcept { return charge.admitted; }

  [[nodiscard]] Decision describe(const typename A::Limit& limit, std::int64_t now) const noexcept {
    return A::describe(limit, charge, now);
  }
};

// The narrow form, where a time span is one word: whole microseconds above 13 bits of nths. Spans are added and
// compared as single words, and no branch depends on the state unless it was written at another rate. Few instructions
// and no branches between the cache misses of successive keys let the CPU overlap these misses.
template <class A>
struct PackedCharge<A, NarrowPayload> {
  struct Terms {
    std::int64_t now;           // in microseconds
    std::int64_t count;         // nths per microsecond
    std::int64_t worth;         // worth of the cost, as a word
    std::int64_t carries_from;  // from this many nths on, the sum carries into the microseconds
    std::int64_t carry;
    std::int64_t fill;  // as a word
  };

  std::int64_t before;
  std::int64_t after;
  std::int64_t fill;
  bool fits;

  [[gnu::always_inline]] static Terms terms(const core::ArrivalLimit& limit, Cost cost, std::int64_t now) noexcept {
    core::FineSpan worth = limit.token;
    if (cost.units() != 1) [[unlikely]]
      worth = limit.worth(cost.units());
    return {now,
            limit.count,
            word(worth),
            limit.count - worth.nths,
            (std::int64_t{1} << bits) - limit.count,
            word(limit.fill)};
  }

  [[gnu::always_inline]] static PackedCharge make(const Terms& terms, NarrowPayload& payload) noexcept {
    std::int64_t before = payload.word_ahead(terms.now);
    if (nths(before) >= terms.count) [[unlikely]]
      before = (whole(before) + 1) << bits;
    const std::int64_t sum = before + terms.worth;
    const std::int64_t after = core::either(nths(before) >= terms.carries_from, sum + terms.carry, sum);
    payload.set_word_ahead_if(after <= terms.fill, after, terms.now);
    return {before, after, terms.fill, after <= terms.fill};
  }

  [[nodiscard]] bool admitted() const noexcept { return fits; }

  [[gnu::always_inline]] [[nodiscard]] Decision describe(const core::ArrivalLimit& limit,
                                                         std::int64_t now) const noexcept {
    if (!limit.counts_in_64_bits) [[unlikely]]
      return A::describe(limit, {{whole(before), nths(before)}, {whole(after), nths(after)}, fits}, now);
    const core::Choice denied(!fits);
    const std::int64_t used = denied.of(before, after);
    const std::int64_t spent = std::min(used, fill);
    const std::int64_t left = limit.total_nths - (whole(spent) * limit.count + nths(spent));
    return {.admitted = fits,
            .limit = limit.burst,
            .remaining = static_cast<std::uint64_t>(left) / static_cast<std::uint64_t>(limit.per),
            .retry_after = Duration{denied.or_zero(rounded_up(after - fill))},
            .reset_after = Duration{rounded_up(used)},
            .charged_at = core::instant_at(now)};
  }

 private:
  static constexpr unsigned bits = NarrowPayload::small_bits;

  static std::int64_t whole(std::int64_t word) noexcept { return word >> bits; }
  static std::int64_t nths(std::int64_t word) noexcept {
    return word & static_cast<std::int64_t>(NarrowPayload::max_small);
  }
  static std::int64_t word(core::FineSpan span) noexcept { return (span.whole << bits) + span.nths; }
  // Also correct for the plain difference of two words: a borrow is less than a microsecond.
  static std::int64_t rounded_up(std::int64_t word) noexcept {
    return whole(word + static_cast<std::int64_t>(NarrowPayload::max_small));
  }
};

// The terms of algorithms that decide and describe in one step.
struct PlainTerms {
  Cost cost;
  std::int64_t now;
};

template <class A, class Payload>
[[gnu::always_inline]] inline auto terms_for(const typename A::Limit& limit, Cost cost, std::int64_t now) noexcept {
  if constexpr (describes_later<A>) {
    return PackedCharge<A, Payload>::terms(limit, cost, now);
  } else {
    return PlainTerms{cost, now};
  }
}

template <class A, class Payload>
using Terms = decltype(terms_for<A, Payload>(std::declval<const typename A::Limit&>(), Cost{1}, 0));

}  // namespace weir::table
