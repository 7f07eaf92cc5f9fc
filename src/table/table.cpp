#include "table/table.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "table/charge.h"
#include "table/locked_state.h"
#include "table/siphash_lanes.h"

namespace weir::table {
namespace {

// Enough loads in flight to hide the latency of memory, few enough to stay in the first cache.
constexpr std::size_t prefetch_ahead = 32;

template <class A, class Payload>
Decision peek_one(const typename A::Limit& limit, Cells<Payload>& cells, const Ask& ask, Instant now) noexcept {
  const Slot slot = cells.find_or_claim(ask.key, core::micros(now));
  Decision decision;
  {
    LockedState<A, Payload> locked(limit, cells, slot, now);
    decision = peek_state<A>(limit, locked.state(), ask.cost, ask.max_wait, now);
  }
  cells.give_up_if_fresh(slot);
  unlock(slot);
  return decision;
}

// Whether a cost can change a state: all others only look.
template <class Limit>
bool can_charge(const Limit& limit, Cost cost) noexcept {
  return cost.units() - 1 < capacity_of(limit);
}

// Any key, any cost: what is seldom, one step at a time.
template <class A, class Payload>
[[gnu::noinline]] Decision decide_any(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                      const Ask& ask, Instant now) noexcept {
  if (!can_charge(limit, ask.cost)) return peek_one<A>(limit, cells, ask, now);
  const Slot slot = cells.find_or_claim(ask.key, core::micros(now));
  Decision decision;
  {
    LockedState<A, Payload> locked(limit, cells, slot, now);
    decision = decide_state<A>(limit, locked.state(), ask.cost, ask.max_wait, now);
    if (decision.admitted) locked.keep();
  }
  if (!decision.admitted) cells.give_up_if_fresh(slot);
  unlock(slot);
  if (slot.overflowed) table.count_overflow();
  return decision;
}

// Decides on a state under its lock, and gives the lock up by `unlock` as soon as the state is written.
//
// Decisions are made where they will be: each function has one to return, or passes on what another returns.
// Copying one just after it was written would stall on every field.
template <class A, class Payload, class Unlock>
[[gnu::always_inline]] inline Decision decide_locked(Payload& payload, const typename A::Limit& limit, const Ask& ask,
                                                     Instant now, Unlock unlock) noexcept {
  if constexpr (describes_later<A>) {
    const auto charge = PackedCharge<A, Payload>::make(limit, payload, ask.cost, core::micros(now));
    unlock();
    return charge.describe(limit, core::micros(now));
  } else {
    auto state = Packing<A, Payload>::unpack(limit, payload, core::micros(now));
    Decision decision = decide_state<A>(limit, state, ask.cost, ask.max_wait, now);
    if (decision.admitted) payload = Packing<A, Payload>::pack(limit, state);
    unlock();
    return decision;
  }
}

// The home bucket is locked and has not the key: a known one lies in a bucket beyond.
template <class A, class Payload>
[[gnu::noinline]] Decision decide_beyond(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                         Bucket<Payload>* home, const Ask& ask, Instant now) noexcept {
  const std::uint64_t tag = Cells<Payload>::tag_of(ask.key);
  Bucket<Payload>* bucket = home;
  unsigned cell = home->cells;
  const auto unlock = [&] {
    for (Bucket<Payload>* at = home; at <= bucket; ++at) at->unlock();
  };
  while (cell == home->cells && bucket->goes_on() && bucket - home < Cells<Payload>::reach - 1) {
    (++bucket)->lock();
    cell = bucket->find(tag);
  }
  if (cell < home->cells) [[likely]]
    return decide_locked<A>(bucket->payload(cell), limit, ask, now, unlock);
  unlock();
  return decide_any<A>(table, limit, cells, ask, now);
}

// The usual case is a known key in its home bucket, with nothing but registers in between.
template <class A, class Payload>
[[gnu::always_inline]] inline Decision decide_at(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                                 const Place& place, const Ask& ask, Instant now) noexcept {
  if constexpr (!std::is_same_v<Payload, LogPayload>) {
    if (can_charge(limit, ask.cost)) [[likely]] {
      Bucket<Payload>* const home = &Cells<Payload>::bucket_at(place.home);
      const std::uint64_t first_tag = home->lock();
      const unsigned cell = home->find(Cells<Payload>::tag_of(ask.key), first_tag);
      if (cells.still_there(place)) [[likely]] {
        if (cell == home->cells) [[unlikely]]
          return decide_beyond<A>(table, limit, cells, home, ask, now);
        return decide_locked<A>(home->payload(cell), limit, ask, now, [&] { home->unlock(first_tag); });
      }
      home->unlock(first_tag);
    }
  }
  return decide_any<A>(table, limit, cells, ask, now);
}

template <class A, class Payload>
[[gnu::noinline]] Decision decide_one(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                      const Ask& ask, Instant now) noexcept {
  return decide_at<A>(table, limit, cells, cells.locate(ask.key), ask, now);
}

template <class A, class Payload>
[[gnu::noinline]] Decision decide_key(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                      const Table::KeyAsk& ask, Instant now) noexcept {
  const KeyHash key = table.hash(ask.key);
  return decide_at<A>(table, limit, cells, cells.locate(key), {key, ask.cost}, now);
}

template <class A, class Payload>
[[gnu::noinline]] void decide_batch(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                    std::span<const Ask> asks, Instant now, Decision* decisions) noexcept {
  std::array<Place, prefetch_ahead> places;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    places[i] = cells.locate(asks[i].key);
    Cells<Payload>::prefetch(places[i]);
  }
  for (std::size_t i = 0; i < asks.size(); ++i) {
    new (decisions + i) Decision(decide_at<A>(table, limit, cells, places[i], asks[i], now));
  }
}

template <class Payload>
Result<void> make_cells(std::unique_ptr<Cells<Payload>>& cells, Budget& budget, unsigned overflow_cells,
                        std::size_t extra_bytes) {
  auto made = Cells<Payload>::create(budget, overflow_cells, extra_bytes);
  if (!made) return tl::unexpected(made.error());
  cells = std::move(*made);
  return {};
}

// Shared logs are as many as an eighth of the budget holds: 4,096 of the longest would take three gigabytes.
unsigned shared_logs(std::size_t budget_bytes, std::size_t log_bytes) noexcept {
  return static_cast<unsigned>(std::clamp<std::size_t>(budget_bytes / 8 / log_bytes, 1, Table::overflow_states));
}

}  // namespace

Result<std::unique_ptr<Table>> Table::create(const core::Rule& widest, std::size_t budget_bytes, HashKey hash_key) {
  std::unique_ptr<Table> table(new Table(budget_bytes, hash_key));
  const Result<void> made = std::visit(
      [&]<class A>(const core::RuleOf<A>& rule) -> Result<void> {
        if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
          const std::size_t log_bytes = core::LogRing::bytes_for(rule.limit.most_entries());
          return make_cells(table->log_, table->budget_, shared_logs(budget_bytes, log_bytes), log_bytes);
        } else {
          if constexpr (may_be_narrow<A>) {
            if (fits_narrow(rule.limit)) return make_cells(table->narrow_, table->budget_, overflow_states, 0);
          }
          return make_cells(table->wide_, table->budget_, overflow_states, 0);
        }
      },
      widest);
  if (!made) return tl::unexpected(made.error());
  return table;
}

void Table::hash(std::span<const std::string_view> keys, std::span<KeyHash> hashes) const noexcept {
  std::size_t i = 0;
  std::array<std::uint64_t, siphash_lanes> lanes;
  for (; i + siphash_lanes <= keys.size(); i += siphash_lanes) {
    siphash13_lanes(hash_key_, &keys[i], lanes.data());
    for (std::size_t lane = 0; lane < siphash_lanes; ++lane) hashes[i + lane] = {lanes[lane]};
  }
  for (; i < keys.size(); ++i) hashes[i] = hash(keys[i]);
}

bool Table::holds(const core::Rule& rule) const noexcept {
  return std::visit(
      [&]<class A>(const core::RuleOf<A>& of) {
        if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
          return log_ != nullptr;
        } else {
          if constexpr (may_be_narrow<A>) {
            if (narrow_) return fits_narrow(of.limit);
          }
          return wide_ != nullptr;
        }
      },
      rule);
}

std::uint64_t Table::estimated_entries(Instant now) const noexcept {
  const std::int64_t micros = core::micros(now);
  if (narrow_) return narrow_->estimate_live(micros);
  return wide_ ? wide_->estimate_live(micros) : log_->estimate_live(micros);
}

Decision Table::decide(const core::Rule& rule, const Ask& ask, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    return decide_one<A>(*this, of.limit, cells, ask, now);
  });
}

Decision Table::decide(const core::Rule& rule, const KeyAsk& ask, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    return decide_key<A>(*this, of.limit, cells, ask, now);
  });
}

Decision Table::peek(const core::Rule& rule, const Ask& ask, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    return peek_one<A>(of.limit, cells, ask, now);
  });
}

void Table::decide(const core::Rule& rule, std::span<const Ask> asks, Instant now,
                   std::span<Decision> decisions) noexcept {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    for (std::size_t begin = 0; begin < asks.size(); begin += prefetch_ahead) {
      const auto piece = asks.subspan(begin, std::min(prefetch_ahead, asks.size() - begin));
      decide_batch<A>(*this, of.limit, cells, piece, now, &decisions[begin]);
    }
  });
}

void Table::refund(const core::Rule& rule, KeyHash key, Cost cost, Instant charged_at, Instant now) noexcept {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    {
      LockedState<A, Payload> locked(of.limit, cells, slot, now);
      A::refund(of.limit, locked.state(), cost, charged_at, now);
      locked.keep();
    }
    cells.give_up_if_fresh(slot);
    unlock(slot);
  });
}

void Table::settle(const core::Rule& rule, KeyHash key, const core::Settlement& settlement, Instant now) noexcept {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    {
      LockedState<A, Payload> locked(of.limit, cells, slot, now);
      core::settle<A>(of.limit, locked.state(), settlement, now);
      locked.keep();
    }
    if (settlement.actual <= settlement.reserved) cells.give_up_if_fresh(slot);
    unlock(slot);
  });
}

void Table::reset(const core::Rule& rule, KeyHash key, Instant now) noexcept {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& /*of*/, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    if (!slot.overflowed) cells.erase(slot);
    unlock(slot);
  });
}

void Table::add_usage(const core::Rule& rule, KeyHash key, Cost cost, Instant now) noexcept {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    if (!slot.overflowed) {
      LockedState<A, Payload> locked(of.limit, cells, slot, now);
      const std::uint64_t most = A::peek(of.limit, locked.state(), Cost{0}, now).remaining;
      std::ignore = A::decide(of.limit, locked.state(), std::min(cost, Cost{most}), now);
      locked.keep();
    }
    unlock(slot);
  });
}

std::uint64_t Table::take_usage(const core::Rule& rule, KeyHash key, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    std::uint64_t used = 0;
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    if (!slot.overflowed) {
      {
        LockedState<A, Payload> locked(of.limit, cells, slot, now);
        const Decision seen = A::peek(of.limit, locked.state(), Cost{0}, now);
        used = seen.limit - seen.remaining;
      }
      cells.erase(slot);
    }
    unlock(slot);
    return used;
  });
}

}  // namespace weir::table
