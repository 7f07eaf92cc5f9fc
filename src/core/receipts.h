// The open receipts of one state, stored next to it: reservations that can still be settled, and the ids of reports.
//
// A reserve is a decision that opens a receipt if it admits: id, cost, position of the charge, and expiration. A
// bucket's charge ends at E, the arrival time right after the charge; a window's is in its window; a log's is its
// entry. Settling removes the receipt and corrects the charge, in one step. A receipt that expires is removed, and its
// charge stays. A report is charged and opens nothing; its id is remembered, so that it counts once. If there is no
// room for the id, it is charged anyway: otherwise a full memory would mean free use.
//
// A bucket gives back what is still visible of the charge: min(refund x token, max(0, E - now)). Later charges move
// earlier by the same amount. E is never later than the state's arrival time.
//
// Why no more than the limit is ever admitted: what is given back of charges before t1 was part of what was used at t1.
// So, with T = t2 - t1, what is admitted in (t1, t2] and not given back is at most used(t2) + T/token - used(t1) + what
// older charges got back, which is at most burst + T/token.
//
// Why nothing depends on the number of receipts in a shared store: an operation needs the totals and its own receipt.
// It needs others only if they have expired, or, for a concurrency limit, the first ones to expire and the last. A
// refund to a bucket concerns all later receipts, but a store may apply it when it reads them.
//
// Invariants:
//  1. totals.open, totals.reported and totals.units count all receipts and ids, including unknown ones.
//  2. Nothing expires before totals.first_expiry, or after totals.last_expiry.
//
// Pure, like all of core; the Redis script does the same, bit for bit. Every operation drops expired entries, except
// for a look.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/operations.h"
#include "core/rule.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/receipt.h"
#include "weir/time.h"

namespace weir::core {

struct ReceiptId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  // All zero means none.
  [[nodiscard]] explicit operator bool() const noexcept { return (high | low) != 0; }

  friend auto operator<=>(const ReceiptId&, const ReceiptId&) noexcept = default;
};

using weir::ReceiptResult;

// An operation on a receipt, and its result.
struct ReceiptUse {
  ReceiptId id{};                // may be none for a report
  Duration lasts{};              // reserve, extend: lifetime from the time of the decision
  std::optional<Cost> actual{};  // settle: the actual cost; none: the charge stays

  // The result:
  ReceiptResult result = ReceiptResult::none;
  Cost cost{0};            // charged under the receipt
  Instant ends{};          // expiration, by the store's clock
  std::uint64_t lost = 0;  // report or higher settlement: what did not fit even into a debt of one capacity
};

struct Receipt {
  ReceiptId id{};
  std::uint64_t cost = 0;
  std::int64_t at = 0;  // bucket: E, in whole microseconds; window: its start, with a calendar its end; log: its entry
  std::int64_t nths = 0;
  std::int64_t ends = 0;

  friend bool operator==(const Receipt&, const Receipt&) = default;
};

struct ReportedId {
  ReceiptId id{};
  std::int64_t ends = 0;

  friend bool operator==(const ReportedId&, const ReportedId&) = default;
};

struct ReceiptTotals {
  std::uint64_t open = 0;
  std::uint64_t reported = 0;
  std::uint64_t units = 0;  // of all open receipts
  std::int64_t first_expiry = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_expiry = never;

  friend bool operator==(const ReceiptTotals&, const ReceiptTotals&) = default;
};

// A repeated reserve is admitted: its cost is already charged, whatever remains.
inline void admit_again(Decision& decision) noexcept {
  decision.admitted = true;
  decision.retry_after = Duration::zero();
}

// Where a charge is recorded: for a bucket, the arrival time right after it; for a window, its start; for a calendar
// window, its end; for a log, the time of the entry.
struct ChargePosition {
  std::int64_t at = 0;
  std::int64_t nths = 0;
};

// Call right after the decision that made the charge.
template <class A>
[[nodiscard]] ChargePosition charge_position(const typename A::Limit& limit, const typename A::State& state,
                                             const Decision& decision) noexcept {
  const std::int64_t charged_at = micros(decision.charged_at);
  if constexpr (std::is_same_v<typename A::State, ArrivalState>) {
    return {std::max<std::int64_t>(state.whole, 0), state.nths};
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    if (limit.calendar != nullptr) return {std::max<std::int64_t>(state.end, 0)};
    return {std::max(window_start(charged_at, limit.window), state.end - limit.window)};
  } else if constexpr (std::is_same_v<A, SlidingWindowCounter>) {
    return {std::max(window_start(charged_at, limit.window), state.start)};
  } else if constexpr (std::is_same_v<A, Concurrency>) {
    return {};
  } else {
    return {charged_at};
  }
}

class Receipts {
 public:
  static constexpr std::size_t max_open = 1'024;
  static constexpr std::size_t max_reported = 1'024;
  static constexpr Duration max_duration = std::chrono::hours(24 * 7);
  static constexpr Duration remembered = std::chrono::hours(1);  // for ids of reports

  // The totals, and the known receipts and ids: all of them in a store's memory; in a replay, those that the script
  // read. Use add() to add one.
  ReceiptTotals totals;
  std::vector<Receipt> open;         // in the order of their charges
  std::vector<ReportedId> reported;  // in the order of arrival

  [[nodiscard]] bool empty() const noexcept { return totals.open == 0 && totals.reported == 0; }

  Receipt& add(const Receipt& receipt);
  void add(const ReportedId& reported_id);

  friend bool operator==(const Receipts&, const Receipts&) = default;

  void drop_ended(std::int64_t now) noexcept;

  [[nodiscard]] bool is_open(ReceiptId id, std::int64_t now) const noexcept {
    return std::ranges::any_of(open, [&](const Receipt& one) { return one.id == id && one.ends > now; });
  }

  // Call after a decision that admitted and charged `cost`. If `was_open`, the id was open before and nothing was
  // charged. A second charge under one id in one group adds to the first.
  void reserve(ChargePosition place, Cost cost, bool was_open, ReceiptUse& use, std::int64_t now);

  // Decides a concurrency limit. `pending` is the number of units that earlier checks of the same group take. Call
  // reserve() afterwards to hold the units. Without an id, returns what Concurrency::decide returns.
  [[nodiscard]] Decision hold(const Concurrency::Limit& limit, Cost cost, const ReceiptUse* use, std::uint64_t pending,
                              bool wants_more_after, std::int64_t now) const;

  template <class A>
  void settle(const typename A::Limit& limit, typename A::State& state, ReceiptUse& use, std::int64_t now);

  // Settles a charge that has no receipt. Later charges that have receipts move earlier by what was given back.
  template <class A>
  void settle(const typename A::Limit& limit, typename A::State& state, const Settlement& settlement,
              std::int64_t now) noexcept {
    if constexpr (std::is_same_v<A, Concurrency>) {
      const std::uint64_t reserved = settlement.reserved.units();
      if (reserved > settlement.actual.units()) end_oldest(reserved - settlement.actual.units(), now);
      return;
    }
    const FineSpan back = core::settle<A>(limit, state, settlement, instant_at(now));
    // A queue refunds only its newest turn, so no later charge has to move.
    if constexpr (is_bucket<A> && !std::is_same_v<A, LeakyBucketQueue>) {
      lower(limit, micros(settlement.charged.full_at) - 1, 0, back);
    }
  }

  // Never shortens a receipt.
  void extend(ReceiptUse& use, std::int64_t now) noexcept;

  // `max_ids` is the maximum number of remembered ids, including this one; zero if out of memory.
  template <class A>
  void report(const typename A::Limit& limit, typename A::State& state, Cost cost, ReceiptUse& use, std::int64_t now,
              std::size_t max_ids = max_reported);

  // Returns when all receipts and ids can be forgotten.
  [[nodiscard]] std::int64_t forget_at() const noexcept { return totals.last_expiry; }

  // The expiration of a receipt that starts now.
  [[nodiscard]] static std::int64_t end_of(Duration lasts, std::int64_t now) noexcept {
    return now + std::clamp(lasts, Duration{1}, max_duration).count();
  }

 private:
  template <class A>
  static constexpr bool is_bucket = std::is_same_v<typename A::State, ArrivalState>;

  [[nodiscard]] std::vector<Receipt>::iterator find(ReceiptId id) noexcept;
  [[nodiscard]] bool is_reported(ReceiptId id) const noexcept;
  void remove(std::vector<Receipt>::iterator receipt) noexcept;
  void include(std::int64_t ends) noexcept;
  void reset_if_empty() noexcept;

  template <class A>
  void give_back(const typename A::Limit& limit, typename A::State& state, const Receipt& receipt, std::uint64_t units,
                 std::int64_t now) noexcept;
  // Releases held units, oldest first.
  void end_oldest(std::uint64_t units, std::int64_t now) noexcept;
  // Moves charges later than (at, nths) earlier by `back`.
  void lower(const ArrivalLimit& limit, std::int64_t at, std::int64_t nths, FineSpan back) noexcept;
};

template <class A>
void Receipts::settle(const typename A::Limit& limit, typename A::State& state, ReceiptUse& use, std::int64_t now) {
  drop_ended(now);
  const auto found = find(use.id);
  use.lost = 0;
  use.result = ReceiptResult::ended;
  if (found == open.end()) return;
  const Receipt receipt = *found;
  remove(found);
  use.result = ReceiptResult::done;
  use.cost = Cost{receipt.cost};
  use.ends = instant_at(receipt.ends);
  const std::uint64_t actual = use.actual ? use.actual->units() : receipt.cost;
  if (actual < receipt.cost) give_back<A>(limit, state, receipt, receipt.cost - actual, now);
  if (actual > receipt.cost) use.lost = A::owe(limit, state, Cost{actual - receipt.cost}, instant_at(now));
}

template <class A>
void Receipts::report(const typename A::Limit& limit, typename A::State& state, Cost cost, ReceiptUse& use,
                      std::int64_t now, std::size_t max_ids) {
  use.lost = 0;
  use.cost = Cost{0};
  use.result = ReceiptResult::done;
  if (use.id) {
    drop_ended(now);
    if (is_reported(use.id)) {
      use.result = ReceiptResult::repeated;
      return;
    }
    if (totals.reported < max_ids) {
      add(ReportedId{use.id, now + remembered.count()});
    } else {
      use.result = ReceiptResult::not_kept;
    }
  }
  use.cost = cost;
  if (cost > Cost{0}) use.lost = A::owe(limit, state, cost, instant_at(now));
}

// True if a report was charged.
[[nodiscard]] inline bool is_charged(ReceiptResult of_report) noexcept {
  return of_report == ReceiptResult::done || of_report == ReceiptResult::not_kept;
}

template <class A>
void Receipts::give_back(const typename A::Limit& limit, typename A::State& state, const Receipt& receipt,
                         std::uint64_t units, std::int64_t now) noexcept {
  if constexpr (is_bucket<A>) {
    const ArrivalState end{receipt.at, receipt.nths};
    // Only the newest turn of a queue can be given back: another request already waits behind any earlier one.
    if (std::is_same_v<A, LeakyBucketQueue> && end != state) return;
    const FineSpan back = A::credit(limit, state, limit.worth(std::min(units, limit.burst)), end.used(limit, now), now);
    lower(limit, receipt.at, receipt.nths, back);
    return;
  }
  if constexpr (std::is_same_v<A, FixedWindow>) {
    // A window whose count was carried over to other edges has another end: nothing is given back.
    if (limit.calendar != nullptr) {
      if (receipt.at == state.end) state.count -= std::min(state.count, units);
      return;
    }
  }
  if constexpr (!is_bucket<A>) {
    A::refund(limit, state, Cost{units}, Charged{.at = instant_at(receipt.at)}, instant_at(now));
  }
}

}  // namespace weir::core
