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
#include "table/receipt_table.h"

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

// Allows as many shared logs as fit into an eighth of the budget: 4,096 of the longest would take three gigabytes.
unsigned shared_logs(std::size_t budget_bytes, std::size_t log_bytes) noexcept {
  return static_cast<unsigned>(std::clamp<std::size_t>(budget_bytes / 8 / log_bytes, 1, Table::overflow_states));
}

// Pauses after each segment, so that a thread that needs to grow a segment finds the lock free.
bool rest_and_go_on() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  return true;
}

// Settles a charge that has no receipt. Later charges that have receipts move earlier by the amount given back.
template <class A>
void settle_plain(ReceiptTable& all, StateName name, const typename A::Limit& limit, typename A::State& state,
                  const core::Settlement& settlement, Instant now) noexcept {
  bool is_settled = false;
  all.with(name, [&](core::Receipts& receipts) {
    receipts.settle<A>(limit, state, settlement, core::micros(now));
    is_settled = true;
  });
  if (!is_settled) (void)core::settle<A>(limit, state, settlement, now);
}

// The owner of a cell's receipts: the key, or the shared cell that it overflowed to.
template <class Payload>
StateName name_of(const Cells<Payload>& cells, const Slot& slot, KeyHash key) noexcept {
  return slot.overflowed ? StateName{cells.overflow_index(key), true} : StateName{key.value, false};
}

}  // namespace

Table::Table(std::shared_ptr<Budget> budget, HashKey hash_key)
    : keyed_hash_(hash_key), budget_(std::move(budget)), receipts_(std::make_unique<ReceiptTable>(*budget_)) {}

Table::~Table() = default;

Result<std::unique_ptr<Table>> Table::create(const core::Rule& widest, std::size_t budget_bytes, HashKey hash_key) {
  return create(widest, std::make_shared<Budget>(budget_bytes), hash_key);
}

Result<std::unique_ptr<Table>> Table::create(const core::Rule& widest, std::shared_ptr<Budget> budget,
                                             HashKey hash_key) {
  if (!can_hash(hash_key.kind))
    return failure("hash_key", "needs a processor with AES instructions, which this one lacks: create another key");
  std::unique_ptr<Table> table(new Table(std::move(budget), hash_key));
  const Result<void> made = std::visit(
      [&]<class A>(const core::RuleOf<A>& rule) -> Result<void> {
        if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
          const std::size_t log_bytes = core::LogRing::bytes_for(rule.limit.max_entries());
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
Table::DecideFunctions<Answer> Table::decide_functions(const core::Rule& rule) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>&, Cells<Payload>&) -> DecideFunctions<Answer> {
#if WEIR_AES
    if (hash_key().kind == HashKind::aes) {
      return {decide_key_by_aes<Answer, A, Payload>, decide_keys_by_aes<Answer, A, Payload>};
    }
#endif
    return {decide_key_by_siphash<Answer, A, Payload>, decide_keys_by_siphash<Answer, A, Payload>};
  });
}

template Table::DecideFunctions<Decision> Table::decide_functions(const core::Rule& rule) noexcept;
template Table::DecideFunctions<bool> Table::decide_functions(const core::Rule& rule) noexcept;

void Table::refund(const core::Rule& rule, KeyHash key, Cost cost, const core::Charged& charged, Instant now) noexcept {
  with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    {
      LockedState<A, Payload> locked(of.limit, cells, slot, now);
      settle_plain<A>(*receipts_, name_of(cells, slot, key), of.limit, locked.state(), {cost, Cost{0}, charged}, now);
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
      settle_plain<A>(*receipts_, name_of(cells, slot, key), of.limit, locked.state(), settlement, now);
      locked.keep();
    }
    if (settlement.actual <= settlement.reserved) cells.give_up_if_fresh(slot);
    unlock(slot);
  });
}

// Uses the key's current state. A receipt may have been opened on another state: in a cell that has since expired, or
// in a shared cell. Its charge is then not visible here.
template <class Work>
Decision Table::with_receipts(const core::Rule& rule, const HashedRequest& request, const core::ReceiptUse* use,
                              Instant now, Work&& work) noexcept {
  const KeyHash key = request.key;
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    Decision decision;
    bool is_written = false;
    {
      LockedState<A, Payload> locked(of.limit, cells, slot, now);
      is_written = work.template operator()<A>(of.limit, locked.state(), name_of(cells, slot, key));
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        decision = receipts_->hold(name_of(cells, slot, key), of.limit, request.cost, use, 0, request.wants_more_after,
                                   core::micros(now));
      } else {
        decision = peek_state<A>(of.limit, locked.state(), request.cost, Duration::max(), now);
      }
      if (is_written) locked.keep();
    }
    if (!is_written) cells.give_up_if_fresh(slot);
    unlock(slot);
    if (is_written && slot.overflowed) count_overflow();
    return decision;
  });
}

Decision Table::settle(const core::Rule& rule, KeyHash key, core::ReceiptUse& use, Instant now) noexcept {
  use.result = core::ReceiptResult::ended;
  return with_receipts(rule, {key, Cost{0}}, &use, now, [&]<class A>(const auto& limit, auto& state, StateName name) {
    receipts_->with(
        name, [&](core::Receipts& receipts) { receipts.template settle<A>(limit, state, use, core::micros(now)); });
    return use.result == core::ReceiptResult::done;
  });
}

Decision Table::extend(const core::Rule& rule, KeyHash key, core::ReceiptUse& use, Instant now) noexcept {
  use.result = core::ReceiptResult::ended;
  return with_receipts(
      rule, {key, Cost{0}}, &use, now, [&]<class A>(const auto&, [[maybe_unused]] auto& state, StateName name) {
        receipts_->with(name, [&](core::Receipts& receipts) { receipts.extend(use, core::micros(now)); });
        if constexpr (std::is_same_v<A, core::Concurrency>) {
          if (use.result == core::ReceiptResult::done) state.ends = std::max(state.ends, core::micros(use.ends));
          return use.result == core::ReceiptResult::done;
        }
        return false;
      });
}

Decision Table::report(const core::Rule& rule, KeyHash key, Cost cost, core::ReceiptUse& use, Instant now) noexcept {
  return with_receipts(rule, {key, Cost{0}}, &use, now, [&]<class A>(const auto& limit, auto& state, StateName name) {
    const auto charge = [&](core::Receipts& receipts, std::size_t max_ids) {
      receipts.template report<A>(limit, state, cost, use, core::micros(now), max_ids);
    };
    const auto charge_and_keep = [&](core::Receipts& receipts) { charge(receipts, core::Receipts::max_reported); };
    if (use.id && receipts_->with_room(name, core::micros(now), charge_and_keep)) return core::is_charged(use.result);
    bool has_some = false;
    if (use.id) {  // a report with this id may have been counted already
      receipts_->with(name, [&](core::Receipts& receipts) {
        has_some = true;
        charge(receipts, 0);
      });
    }
    if (!has_some) {
      core::Receipts none;
      charge(none, 0);
    }
    return core::is_charged(use.result);
  });
}

Decision Table::peek_holds(const core::Rule& rule, const HashedRequest& request, const core::ReceiptUse& use,
                           Instant now) noexcept {
  return with_receipts(rule, request, &use, now, []<class A>(const auto&, auto&, StateName) { return false; });
}

bool Table::has_open(const core::Rule& rule, KeyHash key, core::ReceiptId id, Instant now) noexcept {
  if (receipts_->empty()) return false;
  bool is_open = false;
  std::ignore = with_receipts(rule, {key, Cost{0}}, nullptr, now, [&]<class A>(const auto&, auto&, StateName name) {
    receipts_->with(name, [&](core::Receipts& receipts) { is_open = receipts.is_open(id, core::micros(now)); });
    return false;
  });
  return is_open;
}

std::vector<core::Receipt> Table::open_receipts(const core::Rule& rule, KeyHash key, Instant now) {
  std::vector<core::Receipt> found;
  if (receipts_->empty()) return {};
  std::ignore = with_receipts(rule, {key, Cost{0}}, nullptr, now, [&]<class A>(const auto&, auto&, StateName name) {
    receipts_->with(name, [&](core::Receipts& receipts) { found = receipts.open; });
    return false;
  });
  std::erase_if(found, [&](const core::Receipt& receipt) { return receipt.ends <= core::micros(now); });
  return found;
}

bool Table::reset(const core::Rule& rule, KeyHash key, Instant now) noexcept {
  return with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& /*of*/, Cells<Payload>& cells) {
    const Slot slot = cells.find_or_claim(key, core::micros(now));
    if (!slot.overflowed) {
      receipts_->erase({key.value, false});
      cells.erase(slot);
    }
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
        // Read under the lock: no writer of this state used a later time. With an earlier time, a state that is exactly
        // full would appear too far ahead, and bounding it would give units to its consumer.
        A::carry_over(of.limit, state, clock.now());
        payload = Packing<A, Payload>::pack(of.limit, state);
      };
      cells.for_each(begin, [&](KeyHash, Payload& payload) { carry(payload); }, rest_and_go_on);
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
