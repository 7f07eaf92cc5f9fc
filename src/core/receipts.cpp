#include "core/receipts.h"

#include <algorithm>

namespace weir::core {

void Receipts::drop_ended(std::int64_t now) noexcept {
  if (empty() || now < totals.first_expiry) return;
  totals.first_expiry = std::numeric_limits<std::int64_t>::max();
  const auto is_over = [&](std::int64_t ends) {
    if (ends > now) totals.first_expiry = std::min(totals.first_expiry, ends);
    return ends <= now;
  };
  std::erase_if(open, [&](const Receipt& receipt) {
    if (!is_over(receipt.ends)) return false;
    totals.open -= std::min<std::uint64_t>(totals.open, 1);
    totals.units -= std::min(totals.units, receipt.cost);
    return true;
  });
  const std::size_t ids = std::erase_if(reported, [&](const ReportedId& one) { return is_over(one.ends); });
  totals.reported -= std::min<std::uint64_t>(totals.reported, ids);
  reset_if_empty();
}

void Receipts::include(std::int64_t ends) noexcept {
  totals.first_expiry = std::min(totals.first_expiry, ends);
  totals.last_expiry = std::max(totals.last_expiry, ends);
}

void Receipts::reset_if_empty() noexcept {
  if (empty()) totals = {};
}

Receipt& Receipts::add(const Receipt& receipt) {
  open.push_back(receipt);
  ++totals.open;
  totals.units += receipt.cost;
  include(receipt.ends);
  return open.back();
}

void Receipts::add(const ReportedId& reported_id) {
  reported.push_back(reported_id);
  ++totals.reported;
  include(reported_id.ends);
}

void Receipts::remove(std::vector<Receipt>::iterator receipt) noexcept {
  totals.open -= std::min<std::uint64_t>(totals.open, 1);
  totals.units -= std::min(totals.units, receipt->cost);
  open.erase(receipt);
  reset_if_empty();
}

std::vector<Receipt>::iterator Receipts::find(ReceiptId id) noexcept {
  return std::ranges::find(open, id, &Receipt::id);
}

bool Receipts::is_reported(ReceiptId id) const noexcept {
  return std::ranges::find(reported, id, &ReportedId::id) != reported.end();
}

void Receipts::reserve(ChargePosition place, Cost cost, bool was_open, ReceiptUse& use, std::int64_t now) {
  drop_ended(now);
  const auto found = find(use.id);
  if (found == open.end() && totals.open >= max_open) {
    use.result = ReceiptResult::not_kept;
    return;
  }
  use.result = was_open ? ReceiptResult::repeated : ReceiptResult::done;
  Receipt& receipt = found != open.end() ? *found : add(Receipt{.id = use.id, .ends = end_of(use.lasts, now)});
  if (!was_open) {
    receipt.cost += cost.units();
    totals.units += cost.units();
    receipt.at = place.at;
    receipt.nths = place.nths;
  }
  use.cost = Cost{receipt.cost};
  use.ends = instant_at(receipt.ends);
}

Decision Receipts::hold(const Concurrency::Limit& limit, Cost cost, const ReceiptUse* use, std::uint64_t pending,
                        bool wants_more_after, std::int64_t now) const {
  if (use == nullptr || !use->id) return Concurrency::peek(limit, {}, cost, instant_at(now));
  // The known holds, the first to expire on top. In a replay they are the first and the last of all.
  struct Hold {
    std::int64_t ends;
    std::uint64_t cost;
  };
  const auto expires_later = [](const Hold& a, const Hold& b) { return a.ends > b.ends; };
  std::vector<Hold> live;
  live.reserve(open.size() + 1);
  std::uint64_t held = totals.units;
  std::uint64_t count = totals.open;
  std::int64_t last = now;
  for (const Receipt& receipt : open) {
    if (receipt.ends > now) {
      live.push_back({receipt.ends, receipt.cost});
      last = std::max(last, receipt.ends);
    } else {
      held -= std::min(held, receipt.cost);
      --count;
    }
  }
  std::ranges::make_heap(live, expires_later);
  const std::uint64_t taken = std::min(pending, limit.limit + 1);

  // Time until `units` more fit, if all holds last until they expire; empty if they never fit.
  const auto fits_after = [&](std::uint64_t units) -> std::optional<Duration> {
    if (units > limit.limit || units > limit.limit - std::min(taken, limit.limit) || taken > limit.limit) return {};
    std::uint64_t left = held;
    auto end = live.end();
    const auto ended = [&] { return static_cast<std::uint64_t>(live.end() - end); };
    while (end != live.begin() &&
           (left + taken + units > limit.limit || count - ended() >= (units > 0 ? max_open : max_open + 1))) {
      std::ranges::pop_heap(live.begin(), end, expires_later);
      left -= std::min(left, (--end)->cost);
    }
    const Duration after{ended() == 0 ? 0 : end->ends - now};
    for (; end != live.end(); ++end) std::ranges::push_heap(live.begin(), end + 1, expires_later);
    return after;
  };

  Decision decision{.limit = limit.limit, .charged_at = instant_at(now)};
  decision.retry_after = fits_after(cost.units());
  decision.admitted = decision.retry_after == Duration::zero();
  if (decision.admitted && cost > Cost{0}) {
    const std::int64_t ends = end_of(use->lasts, now);
    live.push_back({ends, cost.units()});
    std::ranges::push_heap(live, expires_later);
    last = std::max(last, ends);
    held += cost.units();
    ++count;
  }
  decision.remaining = count < max_open ? limit.limit - std::min(held + taken, limit.limit) : 0;
  decision.reset_after = Duration{last - now};
  if (wants_more_after && decision.remaining < decision.limit) {
    decision.more_after = fits_after(decision.remaining + 1).value_or(decision.reset_after);
  }
  return decision;
}

void Receipts::end_oldest(std::uint64_t units, std::int64_t now) noexcept {
  drop_ended(now);
  while (units > 0 && !open.empty()) {
    Receipt& oldest = open.front();
    if (units < oldest.cost) {
      oldest.cost -= units;
      totals.units -= std::min(totals.units, units);
      return;
    }
    units -= oldest.cost;
    remove(open.begin());
  }
}

void Receipts::extend(ReceiptUse& use, std::int64_t now) noexcept {
  drop_ended(now);
  const auto receipt = find(use.id);
  use.result = receipt == open.end() ? ReceiptResult::ended : ReceiptResult::done;
  if (receipt == open.end()) return;
  receipt->ends = std::max(receipt->ends, end_of(use.lasts, now));
  totals.last_expiry = std::max(totals.last_expiry, receipt->ends);
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
