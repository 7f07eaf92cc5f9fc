// Charging a state where it lies, under its lock. What to say about it comes later, without the lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/rule.h"
#include "core/select.h"
#include "table/packing.h"
#include "table/payload.h"

namespace weir::table {

// Whether a decision of this algorithm is a charge and its description.
template <class A>
inline constexpr bool describes_later = on_arrival_time<A> && !std::is_same_v<A, core::LeakyBucketQueue>;

// Any payload: what A::charge and A::describe do.
template <class A, class Payload>
struct PackedCharge {
  typename A::Charge charge;

  // For a cost of 1 to the burst.
  static PackedCharge make(const typename A::Limit& limit, Payload& payload, Cost cost, std::int64_t now) noexcept {
    auto state = Packing<A, Payload>::unpack(limit, payload, now);
    const auto charge = A::charge(limit, state, cost, now);
    if (charge.admitted) payload = Packing<A, Payload>::pack(limit, state);
    return {charge};
  }

  [[nodiscard]] bool admitted() const noexcept { return charge.admitted; }

  [[nodiscard]] Decision describe(const typename A::Limit& limit, std::int64_t now) const noexcept {
    return A::describe(limit, charge, now);
  }
};

// The same in the narrow form, where a span of time is one word: whole microseconds above 13 bits of nths. It is
// added and compared as one, and no branch depends on the state, but for states of another rate. Few instructions
// and no branches between one key's cache miss and the next key's are what lets a core overlap the two.
template <class A>
struct PackedCharge<A, NarrowPayload> {
  std::int64_t before;
  std::int64_t after;
  std::int64_t fill;
  bool fits;

  [[gnu::always_inline]] static PackedCharge make(const core::ArrivalLimit& limit, NarrowPayload& payload, Cost cost,
                                                  std::int64_t now) noexcept {
    std::int64_t before = payload.word_ahead(now);
    if (nths(before) >= limit.count) [[unlikely]]
      before = (whole(before) + 1) << bits;
    core::FineSpan worth = limit.token;
    if (cost.units() != 1) [[unlikely]]
      worth = limit.worth(cost.units());
    const core::Choice carries(nths(before) >= limit.count - worth.nths);
    const std::int64_t after = before + word(worth) + carries.or_zero((std::int64_t{1} << bits) - limit.count);
    const std::int64_t fill = word(limit.fill);
    payload.set_word_ahead_if(after <= fill, after, now);
    return {before, after, fill, after <= fill};
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
    return word & static_cast<std::int64_t>(NarrowPayload::largest_small);
  }
  static std::int64_t word(core::FineSpan span) noexcept { return (span.whole << bits) + span.nths; }
  // Also right for the plain difference of two words: a borrow is less than a microsecond.
  static std::int64_t rounded_up(std::int64_t word) noexcept {
    return whole(word + static_cast<std::int64_t>(NarrowPayload::largest_small));
  }
};

}  // namespace weir::table
