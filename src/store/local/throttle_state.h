// How an arrival time of CL.THROTTLE is kept in a cell, whatever numbers it was written under.
//
// A narrow cell has whole microseconds and 8,192-ths of one, rounded up: for N <= 8,192 no two N-ths fall on the same
// 8,192-th, so nothing is lost. A wide cell has N-ths, and N. Read under another N, either gives the fewest N-ths that
// fall on the same 8,192-th, rounded up, or a later one.
#pragma once

#include <cstdint>

#include "core/algorithm/gcra.h"
#include "core/product.h"
#include "table/payload.h"
#include "weir/cost.h"

namespace weir::store {

inline constexpr unsigned finest_bits = table::NarrowPayload::small_bits;
inline constexpr std::int64_t finest = std::int64_t{1} << finest_bits;

// N-ths as 8,192-ths, rounded up: for N > 8,192 up to 8,192 of them.
[[nodiscard]] [[gnu::always_inline]] inline std::int64_t to_finest(std::int64_t nths, std::int64_t n) noexcept {
  if (nths == 0) return 0;
  if (n <= finest) return (nths * finest + n - 1) / n;
  const auto divisor = static_cast<std::uint64_t>(n);
  return static_cast<std::int64_t>(((core::Wide{static_cast<std::uint64_t>(nths)} << finest_bits) + divisor - 1) /
                                   divisor);
}

// The other way, for up to 8,192 of them.
[[nodiscard]] [[gnu::always_inline]] inline core::FineSpan from_finest(std::int64_t whole, std::int64_t parts,
                                                                       const core::Gcra::Limit& limit) noexcept {
  if (parts == 0) return {whole, 0};
  const core::Wide below = core::Wide{static_cast<std::uint64_t>(parts - 1)} * static_cast<std::uint64_t>(limit.count);
  const auto nths = static_cast<std::int64_t>(below >> finest_bits) + 1;
  return nths < limit.count ? core::FineSpan{whole, nths} : core::FineSpan{whole + 1, 0};
}

// How far the arrival time lies ahead of now.

[[nodiscard]] [[gnu::always_inline]] inline core::FineSpan used_of(const table::NarrowPayload& payload,
                                                                   const core::Gcra::Limit& limit,
                                                                   std::int64_t now) noexcept {
  const std::int64_t ahead = payload.word_ahead(now);
  return from_finest(ahead >> finest_bits, ahead & (finest - 1), limit);
}

[[nodiscard]] inline core::FineSpan used_of(const table::WidePayload& payload, const core::Gcra::Limit& limit,
                                            std::int64_t now) noexcept {
  if (payload.dead(now)) return {};
  const auto nths = static_cast<std::int64_t>(payload.first);
  const auto n = static_cast<std::int64_t>(payload.second);
  if (n == limit.count) return {payload.time - now, nths};
  return from_finest(payload.time - now, to_finest(nths, n), limit);
}

// No branch depends on `condition`, which nobody could predict.

[[gnu::always_inline]] inline void set_used_if(bool condition, table::NarrowPayload& payload, core::FineSpan used,
                                               const core::Gcra::Limit& limit, std::int64_t now) noexcept {
  payload.set_word_ahead_if(condition, used.whole * finest + to_finest(used.nths, limit.count), now);
}

inline void set_used_if(bool condition, table::WidePayload& payload, core::FineSpan used,
                        const core::Gcra::Limit& limit, std::int64_t now) noexcept {
  if (!condition) return;
  payload = {now + used.whole, static_cast<std::uint64_t>(used.nths), static_cast<std::uint64_t>(limit.count)};
}

// Of two arrival times the later.
inline void raise(table::WidePayload& payload, const table::NarrowPayload& by, std::int64_t now) noexcept {
  if (by.dead(now)) return;
  const core::FineSpan later{by.time(now), static_cast<std::int64_t>(by.small())};
  const auto reached = [&] {
    return core::FineSpan{
        payload.time, to_finest(static_cast<std::int64_t>(payload.first), static_cast<std::int64_t>(payload.second))};
  };
  if (!payload.dead(now) && later <= reached()) return;
  payload = {later.whole, static_cast<std::uint64_t>(later.nths), static_cast<std::uint64_t>(finest)};
}

// For a cost of 1 to the burst.
template <class Payload>
[[gnu::always_inline]] inline core::Gcra::Charge charge(Payload& payload, const core::Gcra::Limit& limit, Cost cost,
                                                        std::int64_t now) noexcept {
  const core::FineSpan before = used_of(payload, limit, now);
  const core::FineSpan after = limit.sum(before, limit.worth(cost.units()));
  const bool admitted = after <= limit.fill;
  set_used_if(admitted, payload, after, limit, now);
  return {before, after, admitted};
}

}  // namespace weir::store
