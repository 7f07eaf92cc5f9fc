#include "table/table.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

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

// Any key, any cost: what is seldom, one step at a time.
template <class A, class Payload>
[[gnu::noinline]] Decision decide_any(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                      const Ask& ask, Instant now) noexcept {
  const bool charges = ask.cost.units() > 0 && ask.cost.units() <= capacity_of(limit);
  if (!charges) return peek_one<A>(limit, cells, ask, now);
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

// A known key's cell, and the buckets that are locked for it.
template <class Payload>
struct Found {
  Bucket<Payload>* home;
  Bucket<Payload>* bucket;
  unsigned cell;

  void unlock() const noexcept {
    for (Bucket<Payload>* at = home; at <= bucket; ++at) at->unlock();
  }
};

// The usual case, a known key, with nothing but registers in between. If the key is not known, or the table is
// just changing its shape, the cell is none and nothing is locked.
template <class Payload>
[[gnu::always_inline]] inline Found<Payload> find_known(const Cells<Payload>& cells, KeyHash key) noexcept {
  const Place place = cells.locate(key);
  const std::uint64_t tag = Cells<Payload>::tag_of(key);
  Bucket<Payload>* const home = &Cells<Payload>::bucket_at(place.home);
  home->lock();
  Found<Payload> found{home, home, home->find(tag)};
  bool ends = false;
  if (!cells.still_there(place)) [[unlikely]] {
    found.cell = home->cells;
    ends = true;
  }
  while (found.cell == home->cells) {
    ends = ends || !found.bucket->goes_on() || found.bucket - home == Cells<Payload>::reach - 1;
    if (ends) {
      found.unlock();
      break;
    }
    (++found.bucket)->lock();
    found.cell = found.bucket->find(tag);
  }
  return found;
}

// Decisions are made where they will be: each function has one to return, or passes on what another returns.
// Copying one just after it was written would stall on every field.
template <class A, class Payload>
[[gnu::always_inline]] inline Decision decide_found(const Found<Payload>& found, const typename A::Limit& limit,
                                                    const Ask& ask, Instant now) noexcept {
  Payload& payload = found.bucket->payload(found.cell);
  auto state = Packing<A, Payload>::unpack(limit, payload, core::micros(now));
  Decision decision = decide_state<A>(limit, state, ask.cost, ask.max_wait, now);
  if (decision.admitted && ask.cost.units() > 0) payload = Packing<A, Payload>::pack(limit, state);
  found.unlock();
  return decision;
}

template <class A, class Payload>
[[gnu::always_inline]] inline Decision decide_one(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                                  const Ask& ask, Instant now) noexcept {
  if constexpr (!std::is_same_v<Payload, LogPayload>) {
    const Found<Payload> found = find_known(cells, ask.key);
    if (found.cell < found.bucket->cells) [[likely]]
      return decide_found<A>(found, limit, ask, now);
  }
  return decide_any<A>(table, limit, cells, ask, now);
}

template <class A, class Payload>
void decide_batch(Table& table, const typename A::Limit& limit, Cells<Payload>& cells, std::span<const Ask> asks,
                  Instant now, Decision* decisions) noexcept {
  for (const Ask& ask : asks) cells.prefetch(ask.key);
  for (const Ask& ask : asks) new (decisions++) Decision(decide_one<A>(table, limit, cells, ask, now));
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

Decision Table::decide(const core::Rule& rule, const Ask& ask, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    return decide_one<A>(*this, of.limit, cells, ask, now);
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

}  // namespace weir::table
