// The open receipts of one state, beside it: what was reserved and can still be settled, and the ids of reports.
//
// A reserve is a decision that, if it admits, opens a receipt: id, cost, where the charge lies, and when the receipt
// ends. A bucket's charge lies right before E, its arrival time right after the charge; a window's, in its window; a
// log's, in its entry. To settle is to take the receipt away and to correct the charge, in one step. A receipt that
// ends unsettled goes, and its charge stays. A report is charged and opens nothing; its id is remembered, so that it
// counts once. Where there is no room for the id, it is charged all the same: otherwise a full memory would be free
// use.
//
// What is given back of a bucket is what is still visible of that charge: min(refund x token, max(0, E - now)). What
// was charged later lies nearer by as much. E is never later than the state's arrival time.
//
// Why no more is ever admitted: what is given back of charges from before t1 was part of what was used at t1. So what
// is admitted in (t1, t2] and not given back is at most used(t2) + T/token - used(t1) + what older charges got back,
// and that is at most burst + T/token.
//
// Pure, as all of core; decide.lua does the same, to the bit. What has ended is dropped by whatever looks for an id.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
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

  // All zero is none.
  [[nodiscard]] explicit operator bool() const noexcept { return (high | low) != 0; }

  friend auto operator<=>(const ReceiptId&, const ReceiptId&) noexcept = default;
};

using weir::ReceiptResult;

// What a question does with a receipt, and what came of it.
struct ReceiptUse {
  ReceiptId id{};                // of a report, it may be none
  Duration lasts{};              // reserve, extend: until the receipt ends, from the instant of the decision
  std::optional<Cost> actual{};  // settle: what it turned out to cost; none: what was charged stays

  // The answer.
  ReceiptResult result = ReceiptResult::none;
  Cost cost{0};            // what the receipt says was charged
  Instant ends{};          // when the receipt ends, by the clock of the store
  std::uint64_t lost = 0;  // of a report, or of a settlement upward: what even a debt of one capacity had no room for
};

struct Receipt {
  ReceiptId id{};
  std::uint64_t cost = 0;
  std::int64_t at = 0;  // bucket: E, in whole microseconds; window: its start, a calendar's its end; log: its entry
  std::int64_t nths = 0;
  std::int64_t ends = 0;

  friend bool operator==(const Receipt&, const Receipt&) = default;
};

struct ReportedId {
  ReceiptId id{};
  std::int64_t ends = 0;

  friend bool operator==(const ReportedId&, const ReportedId&) = default;
};

// What a reserve is told that is repeated: what it asks for is charged already, whatever is left.
inline void admit_again(Decision& decision) noexcept {
  decision.admitted = true;
  decision.retry_after = Duration::zero();
}

// Where a charge lies: of a bucket, its arrival time right after it; of a window, the window's start; of a calendar's,
// its end; of a log, the time of the entry.
struct ChargePlace {
  std::int64_t at = 0;
  std::int64_t nths = 0;
};

// Right behind the decision that made the charge.
template <class A>
[[nodiscard]] ChargePlace place_of_charge(const typename A::Limit& limit, const typename A::State& state,
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
  static constexpr Duration longest = std::chrono::hours(24 * 7);
  static constexpr Duration remembered = std::chrono::hours(1);  // an id of a report

  std::vector<Receipt> open;         // in the order of their charges
  std::vector<ReportedId> reported;  // in the order in which they came

  [[nodiscard]] bool empty() const noexcept { return open.empty() && reported.empty(); }

  friend bool operator==(const Receipts&, const Receipts&) = default;

  // What has ended goes.
  void drop_ended(std::int64_t now) noexcept;

  [[nodiscard]] bool is_open(ReceiptId id, std::int64_t now) const noexcept {
    return std::ranges::any_of(open, [&](const Receipt& one) { return one.id == id && one.ends > now; });
  }

  // Behind a decision that admitted and charged `cost`. `was_open` is whether the id was before the decision: then
  // nothing was charged. A second charge under one id, in one group, adds to the first.
  void reserve(ChargePlace place, Cost cost, bool was_open, ReceiptUse& use, std::int64_t now);

  // What a limit on holds says to a cost: `pending` units are taken by the same group. It takes reserve() to hold them.
  // Without an id, what Concurrency::decide says.
  [[nodiscard]] Decision hold(const Concurrency::Limit& limit, Cost cost, const ReceiptUse* use, std::uint64_t pending,
                              bool wants_more_after, std::int64_t now) const;

  template <class A>
  void settle(const typename A::Limit& limit, typename A::State& state, ReceiptUse& use, std::int64_t now);

  // A charge without a receipt. What was reserved behind it lies nearer by what it got back.
  template <class A>
  void settle(const typename A::Limit& limit, typename A::State& state, const Settlement& settlement,
              std::int64_t now) noexcept {
    if constexpr (std::is_same_v<A, Concurrency>) {
      const std::uint64_t reserved = settlement.reserved.units();
      if (reserved > settlement.actual.units()) end_oldest(reserved - settlement.actual.units(), now);
      return;
    }
    const FineSpan back = core::settle<A>(limit, state, settlement, instant_at(now));
    // Behind the newest turn of a queue there is none.
    if constexpr (is_bucket<A> && !std::is_same_v<A, LeakyBucketQueue>) {
      lower(limit, micros(settlement.charged.full_at) - 1, 0, back);
    }
  }

  // Never to an earlier end.
  void extend(ReceiptUse& use, std::int64_t now) noexcept;

  // `max_ids`: as many are remembered, this one included; zero where there is no memory for it.
  template <class A>
  void report(const typename A::Limit& limit, typename A::State& state, Cost cost, ReceiptUse& use, std::int64_t now,
              std::size_t max_ids = max_reported);

  // Until when something of it matters.
  [[nodiscard]] std::int64_t forget_at() const noexcept {
    std::int64_t at = never;
    for (const Receipt& one : open) at = std::max(at, one.ends);
    for (const ReportedId& one : reported) at = std::max(at, one.ends);
    return at;
  }

  // When one that begins now ends.
  [[nodiscard]] static std::int64_t end_of(Duration lasts, std::int64_t now) noexcept {
    return now + std::clamp(lasts, Duration{1}, longest).count();
  }

 private:
  template <class A>
  static constexpr bool is_bucket = std::is_same_v<typename A::State, ArrivalState>;

  [[nodiscard]] std::vector<Receipt>::iterator find(ReceiptId id) noexcept;
  [[nodiscard]] bool is_reported(ReceiptId id) const noexcept;
  // A new one, at the end.
  Receipt& add(const Receipt& receipt);

  template <class A>
  void give_back(const typename A::Limit& limit, typename A::State& state, const Receipt& receipt, std::uint64_t units,
                 std::int64_t now) noexcept;
  // So many units of holds, the oldest first.
  void end_oldest(std::uint64_t units, std::int64_t now) noexcept;
  // What was charged behind (at, nths) lies nearer by `back`.
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
  open.erase(found);
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
    if (reported.size() < max_ids) {
      reported.push_back({use.id, now + remembered.count()});
    } else {
      use.result = ReceiptResult::not_kept;
    }
  }
  use.cost = cost;
  if (cost > Cost{0}) use.lost = A::owe(limit, state, cost, instant_at(now));
}

// Whether a report was charged.
[[nodiscard]] inline bool is_charged(ReceiptResult of_report) noexcept {
  return of_report == ReceiptResult::done || of_report == ReceiptResult::not_kept;
}

template <class A>
void Receipts::give_back(const typename A::Limit& limit, typename A::State& state, const Receipt& receipt,
                         std::uint64_t units, std::int64_t now) noexcept {
  if constexpr (is_bucket<A>) {
    const ArrivalState end{receipt.at, receipt.nths};
    // Behind any turn of a queue but the newest, somebody already waits.
    if (std::is_same_v<A, LeakyBucketQueue> && end != state) return;
    const FineSpan back = A::credit(limit, state, limit.worth(std::min(units, limit.burst)), end.used(limit, now), now);
    lower(limit, receipt.at, receipt.nths, back);
    return;
  }
  if constexpr (std::is_same_v<A, FixedWindow>) {
    // A window that other edges took over has another end, and gives nothing back.
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
