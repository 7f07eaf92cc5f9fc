// Charging a packed state has the same result as the algorithm on the unpacked state.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <chrono>
#include <cstdint>

#include "core/algorithm/buckets.h"
#include "table/charge.h"
#include "table/packing.h"
#include "weir/limit.h"

namespace weir::table {
namespace {

using core::Gcra;

constexpr std::int64_t year = std::chrono::microseconds{std::chrono::days{365}}.count();

// Numbers whose states fit into eight bytes. Limit rejects the few that take over ten years to fill.
Gcra::Limit any_limit() {
  for (;;) {
    const auto count = *rc::gen::inRange<std::uint64_t>(1, NarrowPayload::max_small + 2);
    const auto per = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(1, 1000), rc::gen::inRange<std::int64_t>(1, year));
    const auto burst = *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(1, 20),
                                       rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 40));
    const auto limit = Limit::gcra({{count, Duration{per}}, burst});
    if (limit) return Gcra::Limit(*limit);
  }
}

// Never used, within the limit, at its edge, in debt, or long expired; with nths of this rate or of another.
NarrowPayload any_payload(const Gcra::Limit& limit, std::int64_t now) {
  const std::int64_t fill = limit.fill.whole;
  const auto ahead = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-50 * year, 2),
                                     rc::gen::inRange<std::int64_t>(-3, 4), rc::gen::inRange<std::int64_t>(0, fill + 2),
                                     rc::gen::inRange<std::int64_t>(fill - limit.token.whole - 3, fill + 4),
                                     rc::gen::inRange<std::int64_t>(0, 2 * fill + 1));
  const auto nths = *rc::gen::oneOf(
      rc::gen::just(static_cast<std::uint64_t>(limit.count - limit.token.nths) % (NarrowPayload::max_small + 1)),
      rc::gen::inRange<std::uint64_t>(0, static_cast<std::uint64_t>(limit.count)),
      rc::gen::inRange<std::uint64_t>(0, NarrowPayload::max_small + 1));
  const bool unused = *rc::gen::weightedElement<bool>({{1, true}, {9, false}});
  return unused ? NarrowPayload{} : NarrowPayload(now + ahead, nths);
}

RC_GTEST_PROP(PackedCharge, DecidesAsTheAlgorithmDoesOnTheUnpackedState, ()) {
  const Gcra::Limit limit = any_limit();
  RC_PRE(fits_narrow(limit));
  const auto now =
      *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-5, 5), rc::gen::inRange<std::int64_t>(-100 * year, 300 * year));
  const NarrowPayload before = any_payload(limit, now);
  const Cost cost{*rc::gen::oneOf(rc::gen::just(std::uint64_t{1}), rc::gen::just(limit.burst),
                                  rc::gen::inRange<std::uint64_t>(1, limit.burst + 1))};

  auto state = Packing<Gcra, NarrowPayload>::unpack(limit, before, now);
  const Decision expected = Gcra::decide(limit, state, cost, core::instant_at(now));
  NarrowPayload payload = before;
  const auto charge =
      PackedCharge<Gcra, NarrowPayload>::make(terms_for<Gcra, NarrowPayload>(limit, cost, now), payload);

  RC_ASSERT(charge.describe(limit, now) == expected);
  const NarrowPayload after = expected.admitted ? Packing<Gcra, NarrowPayload>::pack(limit, state) : before;
  RC_ASSERT(std::bit_cast<std::uint64_t>(payload) == std::bit_cast<std::uint64_t>(after));
}

RC_GTEST_PROP(PackedCharge, OfAWideStateDecidesAsTheAlgorithmDoes, ()) {
  const Gcra::Limit limit = any_limit();
  const auto now = *rc::gen::inRange<std::int64_t>(-100 * year, 300 * year);
  const WidePayload before{now + *rc::gen::inRange<std::int64_t>(-10, 2 * limit.fill.whole + 1),
                           *rc::gen::inRange<std::uint64_t>(0, static_cast<std::uint64_t>(limit.count)), 0};
  const Cost cost{*rc::gen::inRange<std::uint64_t>(1, limit.burst + 1)};

  auto state = Packing<Gcra, WidePayload>::unpack(limit, before, now);
  const Decision expected = Gcra::decide(limit, state, cost, core::instant_at(now));
  WidePayload payload = before;
  const auto charge = PackedCharge<Gcra, WidePayload>::make(terms_for<Gcra, WidePayload>(limit, cost, now), payload);

  RC_ASSERT(charge.describe(limit, now) == expected);
  RC_ASSERT((Packing<Gcra, WidePayload>::unpack(limit, payload, now).used(limit, now) == state.used(limit, now)));
}

}  // namespace
}  // namespace weir::table
