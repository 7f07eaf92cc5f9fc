#include "table/table.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "table/deciding.h"
#include "table/locked_state.h"

namespace weir::table {
namespace {

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

// After each segment it rests, so that who wants a segment to grow meanwhile finds the lock free.
bool rest_and_go_on() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  return true;
}

}  // namespace

Result<std::unique_ptr<Table>> Table::create(const core::Rule& widest, std::size_t budget_bytes, HashKey hash_key) {
  return create(widest, std::make_shared<Budget>(budget_bytes), hash_key);
}

Result<std::unique_ptr<Table>> Table::create(const core::Rule& widest, std::shared_ptr<Budget> budget,
                                             HashKey hash_key) {
  if (!can_hash(hash_key.kind))
    return failure("hash_key", "is for x86-64 processors with AES instructions, and this is none: make another");
  std::unique_ptr<Table> table(new Table(std::move(budget), hash_key));
  const Result<void> made = std::visit(
      [&]<class A>(const core::RuleOf<A>& rule) -> Result<void> {
        if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
          const std::size_t log_bytes = core::LogRing::bytes_for(rule.limit.most_entries());
          return make_cells(table->log_, *table->budget_, shared_logs(table->budget(), log_bytes), log_bytes);
        } else {
          if constexpr (may_be_narrow<A>) {
            if (fits_narrow(rule.limit)) return make_cells(table->narrow_, *table->budget_, overflow_states, 0);
          }
          return make_cells(table->wide_, *table->budget_, overflow_states, 0);
        }
      },
      widest);
  if (!made) return tl::unexpected(made.error());
  return table;
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

Decision Table::decide(const core::Rule& rule, const HashedRequest& request, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& /*cells*/) {
    return decide_one<A, Payload>(*this, of.limit, request, now);
  });
}

Decision Table::peek(const core::Rule& rule, const HashedRequest& request, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    return peek_one<A>(of.limit, cells, request, now);
  });
}

template <class Answer>
Table::Way<Answer> Table::way_for(const core::Rule& rule) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>&, Cells<Payload>&) -> Way<Answer> {
#if defined(__x86_64__)
    if (hash_key().kind == HashKind::aes) {
      return {decide_key_by_aes<Answer, A, Payload>, decide_keys_by_aes<Answer, A, Payload>};
    }
#endif
    return {decide_key_by_siphash<Answer, A, Payload>, decide_keys_by_siphash<Answer, A, Payload>};
  });
}

template Table::Way<Decision> Table::way_for(const core::Rule& rule) noexcept;
template Table::Way<bool> Table::way_for(const core::Rule& rule) noexcept;

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

bool Table::reset(const core::Rule& rule, KeyHash key, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& /*of*/, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    if (!slot.overflowed) cells.erase(slot);
    unlock(slot);
    return !slot.overflowed;
  });
}

void Table::carry_over(const core::Rule& rule, const Clock& clock) {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    if constexpr (on_arrival_time<A>) {
      const std::int64_t begin = core::micros(clock.now());
      const auto carry = [&](Payload& payload) {
        auto state = Packing<A, Payload>::unpack(of.limit, payload, begin);
        if (state.used(of.limit, begin) <= of.limit.fill) return;
        // Under its lock: whoever wrote it knew no later time. By an earlier one, a state that is just full would seem
        // to lie too far ahead, and to bring it back would give something to its consumer.
        A::carry_over(of.limit, state, clock.now());
        payload = Packing<A, Payload>::pack(of.limit, state);
      };
      cells.for_each(
          begin, [&](KeyHash, Payload& payload) { carry(payload); }, rest_and_go_on);
      for (unsigned i = 0; i < cells.overflow_cells(); ++i) {
        const Slot slot = cells.lock_overflow(i);
        carry(Cells<Payload>::payload(slot));
        unlock(slot);
      }
    }
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
