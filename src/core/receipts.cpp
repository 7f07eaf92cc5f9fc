#include "core/receipts.h"

#include <algorithm>

namespace weir::core {

void Receipts::drop_ended(std::int64_t now) noexcept {
  std::erase_if(open, [&](const Receipt& receipt) { return receipt.ends <= now; });
  std::erase_if(reported, [&](const ReportedId& one) { return one.ends <= now; });
}

std::vector<Receipt>::iterator Receipts::find(ReceiptId id) noexcept {
  return std::ranges::find(open, id, &Receipt::id);
}

bool Receipts::is_reported(ReceiptId id) const noexcept {
  return std::ranges::find(reported, id, &ReportedId::id) != reported.end();
}

Receipt& Receipts::add(const Receipt& receipt) {
  open.push_back(receipt);
  return open.back();
}

void Receipts::reserve(ChargePosition place, Cost cost, bool was_open, ReceiptUse& use, std::int64_t now) {
  drop_ended(now);
  const auto found = find(use.id);
  if (found == open.end() && open.size() >= max_open) {
    use.result = ReceiptResult::not_kept;
    return;
  }
  use.result = was_open ? ReceiptResult::repeated : ReceiptResult::done;
  Receipt& receipt = found != open.end() ? *found : add({.id = use.id, .ends = end_of(use.lasts, now)});
  if (!was_open) {
    receipt.cost += cost.units();
    receipt.at = place.at;
    receipt.nths = place.nths;
  }
  use.cost = Cost{receipt.cost};
  use.ends = instant_at(receipt.ends);
}

Decision Receipts::hold(const Concurrency::Limit& limit, Cost cost, const ReceiptUse* use, std::uint64_t pending,
                        bool wants_more_after, std::int64_t now) const {
  if (use == nullptr || !use->id) return Concurrency::peek(limit, {}, cost, instant_at(now));
  std::vector<Receipt> live = open;
  std::erase_if(live, [&](const Receipt& receipt) { return receipt.ends <= now; });
  std::ranges::stable_sort(live, {}, &Receipt::ends);
  std::uint64_t held = 0;
  for (const Receipt& receipt : live) held += receipt.cost;
  const std::uint64_t taken = std::min(pending, limit.limit + 1);

  // Time until `units` more fit, if all holds last until they expire; empty if they never fit.
  const auto fits_after = [&](std::uint64_t units) -> std::optional<Duration> {
    if (units > limit.limit || units > limit.limit - std::min(taken, limit.limit) || taken > limit.limit) return {};
    std::uint64_t left = held;
    std::size_t ended = 0;
    while (left + taken + units > limit.limit || live.size() - ended >= (units > 0 ? max_open : max_open + 1)) {
      left -= live[ended++].cost;
    }
    return Duration{ended == 0 ? 0 : live[ended - 1].ends - now};
  };

  Decision decision{.limit = limit.limit, .charged_at = instant_at(now)};
  decision.retry_after = fits_after(cost.units());
  decision.admitted = decision.retry_after == Duration::zero();
  if (decision.admitted && cost > Cost{0}) {
    const Receipt its_own{.id = use->id, .cost = cost.units(), .ends = end_of(use->lasts, now)};
    live.insert(std::ranges::upper_bound(live, its_own.ends, {}, &Receipt::ends), its_own);
    held += cost.units();
  }
  decision.remaining = live.size() < max_open ? limit.limit - std::min(held + taken, limit.limit) : 0;
  decision.reset_after = Duration{live.empty() ? 0 : live.back().ends - now};
  if (wants_more_after && decision.remaining < decision.limit) {
    decision.more_after = fits_after(decision.remaining + 1).value_or(decision.reset_after);
  }
  return decision;
}

void Receipts::end_oldest(std::uint64_t units, std::int64_t now) noexcept {
  drop_ended(now);
  while (units > 0 && !open.empty()) {
    Receipt& oldest = open.front();
    const std::uint64_t taken = std::min(units, oldest.cost);
    units -= taken;
    oldest.cost -= taken;
    if (oldest.cost > 0) return;
    open.erase(open.begin());
  }
}

void Receipts::extend(ReceiptUse& use, std::int64_t now) noexcept {
  drop_ended(now);
  const auto receipt = find(use.id);
  use.result = receipt == open.end() ? ReceiptResult::ended : ReceiptResult::done;
  if (receipt == open.end()) return;
  receipt->ends = std::max(receipt->ends, end_of(use.lasts, now));
  use.cost = Cost{receipt->cost};
  use.ends = instant_at(receipt->ends);
}

void Receipts::lower(const ArrivalLimit& limit, std::int64_t at, std::int64_t nths, FineSpan back) noexcept {
  if (back == FineSpan{}) return;
  for (Receipt& one : open) {
    if (one.at < at || (one.at == at && one.nths <= nths)) continue;
    const bool fits = one.nths < limit.count;  // if not, it was written under another rate and rounds up, like a state
    const FineSpan end = limit.difference({one.at + (fits ? 0 : 1), fits ? one.nths : 0}, back);
    one.at = end.whole;
    one.nths = end.nths;
  }
}

}  // namespace weir::core
