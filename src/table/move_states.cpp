#include "table/move_states.h"

#include <type_traits>

#include "table/locked_state.h"

namespace weir::table {
namespace {

// Of two usages that come to share a state, the larger counts.
template <class A, class Payload>
void put_state(const typename A::Limit& limit, Cells<Payload>& cells, const Slot& slot, const typename A::State& state,
               Instant now) noexcept {
  LockedState<A, Payload> locked(limit, cells, slot, now);
  const auto left = [&](const typename A::State& of) { return A::peek(limit, of, Cost{0}, now).remaining; };
  if (!slot.overflowed || left(state) <= left(locked.state())) locked.state() = state;
  locked.keep();
}

template <class A, class From, class To>
void move_cells(const typename A::Limit& from_limit, Cells<From>& from, const typename A::Limit& to_limit,
                Cells<To>& to, Instant now) {
  const std::int64_t micros = core::micros(now);
  const auto put = [&](const Slot& slot, const From& payload) {
    put_state<A>(to_limit, to, slot, Packing<A, From>::unpack(from_limit, payload, micros), now);
    unlock(slot);
  };
  from.for_each(
      micros, [&](KeyHash hash, From& payload) { put(to.find_or_claim(hash, micros), payload); }, [] { return true; });
  for (unsigned i = 0; i < from.overflow_cells(); ++i) {
    const Slot slot = from.lock_overflow(i);
    const From payload = Cells<From>::payload(slot);
    unlock(slot);
    if (!payload.dead(micros)) put(to.lock_overflow(i % to.overflow_cells()), payload);
  }
}

}  // namespace

void move_states(Table& from, const core::Rule& from_rule, Table& to, const core::Rule& to_rule, Instant now) {
  from.with(from_rule, [&]<class A, class From>(const core::RuleOf<A>& from_of, Cells<From>& from_cells) {
    to.with(to_rule, [&]<class B, class To>(const core::RuleOf<B>& to_of, Cells<To>& to_cells) {
      constexpr bool is_log = std::is_same_v<From, LogPayload> || std::is_same_v<To, LogPayload>;
      if constexpr (std::is_same_v<A, B> && !is_log) {
        move_cells<A>(from_of.limit, from_cells, to_of.limit, to_cells, now);
      }
    });
  });
}

}  // namespace weir::table
