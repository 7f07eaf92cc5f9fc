// One key's decision, from the hash to the answer, in the cells of a table.
//
// The common case is a known key in its home bucket: a lock, a charge and its description, all in registers. Everything
// else takes separate steps.
//
// An Answer is a Decision, or a bool for callers that only need to know whether it is admitted.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/until_more.h"
#include "table/charge.h"
#include "table/locked_state.h"
#include "table/table.h"

namespace weir::table {

template <class A, class Payload>
Decision peek_one(const typename A::Limit& limit, Cells<Payload>& cells, const HashedRequest& request,
                  Instant now) noexcept {
  const Slot slot = cells.find_or_claim(request.key, core::micros(now));
  Decision decision;
  {
    LockedState<A, Payload> locked(limit, cells, slot, now);
    decision = peek_state<A>(limit, locked.state(), request.cost, request.max_wait, now);
    if (request.wants_more_after) {
      decision.more_after =
          core::until_more_if_charged<A>(limit, locked.state(), request.cost, decision, request.max_wait, now);
    }
  }
  cells.give_up_if_fresh(slot);
  unlock(slot);
  return decision;
}

// Handles any key and any cost. Used in the rare cases.
template <class A, class Payload>
[[gnu::noinline]] Decision decide_any(Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                                      const HashedRequest& request, Instant now) noexcept {
  if (!can_charge(limit, request.cost)) return peek_one<A>(limit, cells, request, now);
  const Slot slot = cells.find_or_claim(request.key, core::micros(now));
  Decision decision;
  {
    LockedState<A, Payload> locked(limit, cells, slot, now);
    decision = decide_state<A>(limit, locked.state(), request.cost, request.max_wait, now);
    if (decision.admitted) locked.keep();
    if (request.wants_more_after) {
      decision.more_after = core::until_more_after<A>(limit, locked.state(), decision, request.max_wait, now);
    }
  }
  if (!decision.admitted) cells.give_up_if_fresh(slot);
  unlock(slot);
  if (slot.overflowed) table.count_overflow();
  return decision;
}

// Decides on a state under its lock, and calls `unlock` as soon as the state is written.
//
// Decisions are constructed in place: each function returns one or passes on what another returns. Copying one right
// after it was written would stall on every field.
template <class Answer, class A, class Payload, class Unlock>
[[gnu::always_inline]] inline Answer decide_locked(Payload& payload, const typename A::Limit& limit,
                                                   const Terms<A, Payload>& terms, Unlock unlock) noexcept {
  if constexpr (describes_later<A>) {
    const auto charge = PackedCharge<A, Payload>::make(terms, payload);
    unlock();
    if constexpr (std::same_as<Answer, bool>) {
      return charge.admitted();
    } else {
      return charge.describe(limit, terms.now);
    }
  } else {
    auto state = Packing<A, Payload>::unpack(limit, payload, terms.now);
    Decision decision = decide_state<A>(limit, state, terms.cost, Duration::max(), core::instant_at(terms.now));
    if (decision.admitted) payload = Packing<A, Payload>::pack(limit, state);
    unlock();
    if constexpr (std::same_as<Answer, bool>) {
      return decision.admitted;
    } else {
      return decision;
    }
  }
}

// The next three functions have few enough parameters to fit in registers and are tail calls, so the common case has no
// registers to save.
template <class Answer, class A, class Payload>
[[gnu::noinline]] Answer decide_seldom(Table& table, const typename A::Limit& limit, KeyHash key, Cost cost,
                                       std::int64_t now) noexcept {
  if constexpr (std::same_as<Answer, bool>) {
    return decide_any<A>(table, limit, table.cells<Payload>(), {key, cost}, core::instant_at(now)).admitted;
  } else {
    return decide_any<A>(table, limit, table.cells<Payload>(), {key, cost}, core::instant_at(now));
  }
}

// Continues when the locked home bucket does not have the key: a known key is in a later bucket.
template <class Answer, class A, class Payload>
[[gnu::noinline]] Answer decide_beyond(Table& table, const typename A::Limit& limit, Bucket<Payload>* home, KeyHash key,
                                       Cost cost, std::int64_t now) noexcept {
  const std::uint64_t tag = Cells<Payload>::tag_of(key);
  Bucket<Payload>* bucket = home;
  unsigned cell = Bucket<Payload>::cells;
  const auto unlock = [&] {
    for (Bucket<Payload>* at = home; at <= bucket; ++at) at->unlock();
  };
  if (table.cells<Payload>().is_home(home, key)) [[likely]] {
    while (cell == Bucket<Payload>::cells && bucket->continues() && bucket - home < Cells<Payload>::reach - 1) {
      (++bucket)->lock();
      cell = bucket->find(tag);
    }
  }
  if (cell < Bucket<Payload>::cells) [[likely]]
    return decide_locked<Answer, A>(bucket->payload(cell), limit, terms_for<A, Payload>(limit, cost, now), unlock);
  unlock();
  return decide_seldom<Answer, A, Payload>(table, limit, key, cost, now);
}

// Handles any cost, and a home bucket that another thread may have locked.
template <class Answer, class A, class Payload>
[[gnu::noinline]] Answer decide_slowly(Table& table, const typename A::Limit& limit, Bucket<Payload>* home, KeyHash key,
                                       Cost cost, std::int64_t now) noexcept {
  if (!can_charge(limit, cost)) return decide_seldom<Answer, A, Payload>(table, limit, key, cost, now);
  const std::uint64_t first_tag = home->lock();
  const unsigned cell = home->find(Cells<Payload>::tag_of(key), first_tag);
  if (cell == Bucket<Payload>::cells) return decide_beyond<Answer, A>(table, limit, home, key, cost, now);
  return decide_locked<Answer, A>(home->payload(cell), limit, terms_for<A, Payload>(limit, cost, now),
                                  [&] { home->unlock(first_tag); });
}

// `for_one` is the terms for a cost of one, which always exist, because any limit can be charged one unit.
//
// A tag found in a key's former home is that key's: cells move only under the locks of their buckets. So only a search
// without a result must verify that the segment still has the shape by which it was searched.
template <class Answer, class A, class Payload>
[[gnu::always_inline]] inline Answer decide_at(Table& table, const typename A::Limit& limit, Bucket<Payload>* home,
                                               KeyHash key, Cost cost, const Terms<A, Payload>& for_one,
                                               std::int64_t now) noexcept {
  if constexpr (std::is_same_v<Payload, LogPayload>) {
    return decide_seldom<Answer, A, Payload>(table, limit, key, cost, now);
  } else {
    std::uint64_t first_tag = 0;
    if (cost != Cost{1} || !home->try_lock(first_tag)) [[unlikely]]
      return decide_slowly<Answer, A>(table, limit, home, key, cost, now);
    const unsigned cell = home->find(Cells<Payload>::tag_of(key), first_tag);
    if (cell == Bucket<Payload>::cells) [[unlikely]]
      return decide_beyond<Answer, A>(table, limit, home, key, cost, now);
    return decide_locked<Answer, A>(home->payload(cell), limit, for_one, [&] { home->unlock(first_tag); });
  }
}

template <class Answer, class A, class Payload>
[[gnu::always_inline]] inline Answer decide_hashed(Table& table, const typename A::Limit& limit, KeyHash key, Cost cost,
                                                   Instant now) noexcept {
  Bucket<Payload>* const home = &Cells<Payload>::bucket_at(table.cells<Payload>().locate(key).home);
  const std::int64_t micros = core::micros(now);
  return decide_at<Answer, A>(table, limit, home, key, cost, terms_for<A, Payload>(limit, Cost{1}, micros), micros);
}

template <class A, class Payload>
[[gnu::noinline]] Decision decide_one(Table& table, const typename A::Limit& limit, const HashedRequest& request,
                                      Instant now) noexcept {
  if constexpr (std::is_same_v<A, core::LeakyBucketQueue>) {
    // A queue is the only algorithm with a maximum wait.
    return decide_any<A>(table, limit, table.cells<Payload>(), request, now);
  } else {
    if constexpr (core::more_after_needs_state<A>) {
      if (request.wants_more_after) return decide_any<A>(table, limit, table.cells<Payload>(), request, now);
    }
    Decision decision = decide_hashed<Decision, A, Payload>(table, limit, request.key, request.cost, now);
    if (request.wants_more_after) {
      // The state is not needed.
      decision.more_after = core::until_more_after<A>(limit, {}, decision, request.max_wait, now);
    }
    return decision;
  }
}

// The rule must be of algorithm A.
template <class A>
[[nodiscard]] const typename A::Limit& limit_of(const core::Rule& rule) noexcept {
  const auto* of = std::get_if<core::RuleOf<A>>(&rule);
  if (of == nullptr) __builtin_unreachable();
  return of->limit;
}

// Hashes a key and decides it. There is one instantiation per hash function, so that the compiler can interleave the
// hash with the rest.
template <class Answer, class A, class Payload>
Answer decide_key_by_siphash(Table& table, const core::Rule& rule, std::string_view key, Cost cost,
                             Instant now) noexcept {
  const KeyHash hash{table.keyed_hash().by_siphash(key)};
  return decide_hashed<Answer, A, Payload>(table, limit_of<A>(rule), hash, cost, now);
}

// Where to look for the keys of a batch. Left uninitialized: it is written before it is read.
template <class Payload>
struct Sought {
  Bucket<Payload>* home;
  std::uint64_t hash;
};
template <class Payload>
using AllSought = std::array<Sought<Payload>, Table::max_batch_size>;

template <class Payload>
[[gnu::always_inline]] inline Sought<Payload> seek(const Cells<Payload>& cells, std::uint64_t hash) noexcept {
  return {&Cells<Payload>::bucket_at(cells.locate({hash}).home), hash};
}

template <class Answer, class A, class Payload>
[[gnu::always_inline]] inline void decide_sought(Table& table, const core::Rule& rule,
                                                 std::span<const Request> requests, const AllSought<Payload>& sought,
                                                 Instant now, Answer* answers) noexcept {
  const std::int64_t micros = core::micros(now);
  const typename A::Limit& limit = limit_of<A>(rule);
  const Terms<A, Payload> for_one = terms_for<A, Payload>(limit, Cost{1}, micros);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const KeyHash key{sought[i].hash};
    new (answers + i)
        Answer(decide_at<Answer, A>(table, limit, sought[i].home, key, requests[i].cost, for_one, micros));
  }
}

// Hashes and prefetches are done in groups: a prefetch after each hash would take a quarter longer.
inline constexpr std::size_t hashed_at_once = 8;

template <class Answer, class A, class Payload>
void decide_keys_by_siphash(Table& table, const core::Rule& rule, std::span<const Request> requests, Instant now,
                            Answer* answers) noexcept {
  AllSought<Payload> sought;
  const Cells<Payload>& cells = table.cells<Payload>();
  for (std::size_t begin = 0; begin < requests.size(); begin += hashed_at_once) {
    const std::size_t end = std::min(begin + hashed_at_once, requests.size());
    for (std::size_t i = begin; i < end; ++i) {
      sought[i] = seek(cells, table.keyed_hash().by_siphash(requests[i].key));
    }
    for (std::size_t i = begin; i < end; ++i) Cells<Payload>::prefetch(sought[i].home);
  }
  decide_sought<Answer, A, Payload>(table, rule, requests, sought, now, answers);
}

#if WEIR_AES

template <class Answer, class A, class Payload>
[[WEIR_AES_TARGET]] Answer decide_key_by_aes(Table& table, const core::Rule& rule, std::string_view key, Cost cost,
                                             Instant now) noexcept {
  const KeyHash hash{aes_hash(table.keyed_hash().aes_keys(), key)};
  return decide_hashed<Answer, A, Payload>(table, limit_of<A>(rule), hash, cost, now);
}

template <class Answer, class A, class Payload>
[[WEIR_AES_TARGET]] void decide_keys_by_aes(Table& table, const core::Rule& rule, std::span<const Request> requests,
                                            Instant now, Answer* answers) noexcept {
  AllSought<Payload> sought;
  const Cells<Payload>& cells = table.cells<Payload>();
  for (std::size_t begin = 0; begin < requests.size(); begin += hashed_at_once) {
    const std::size_t end = std::min(begin + hashed_at_once, requests.size());
    for (std::size_t i = begin; i < end; ++i) {
      sought[i] = seek(cells, aes_hash(table.keyed_hash().aes_keys(), requests[i].key));
    }
    for (std::size_t i = begin; i < end; ++i) Cells<Payload>::prefetch(sought[i].home);
  }
  decide_sought<Answer, A, Payload>(table, rule, requests, sought, now, answers);
}

#endif

}  // namespace weir::table
