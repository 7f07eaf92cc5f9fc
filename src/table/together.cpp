#include "table/together.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/until_more.h"
#include "table/locked_state.h"
#include "table/receipt_table.h"

namespace weir::table {
namespace {

// The buckets that a query has locked. Locks are taken in the order of addresses, so that two queries never wait for
// each other; buckets at or before the newest are already locked, because checks are processed in the order of their
// home buckets and each locks a contiguous run that starts at its home.
class HeldLocks {
 public:
  void lock(std::byte* bucket) noexcept {
    if (count_ > 0 && std::less<>{}(bucket, runs_[count_ - 1].end)) return;
    lock_at(bucket).lock();
    if (count_ == 0 || runs_[count_ - 1].end != bucket) runs_[count_++] = {bucket, bucket};
    runs_[count_ - 1].end = bucket + bucket_bytes;
  }

  void unlock_all() noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::byte* at = runs_[i].begin; at != runs_[i].end; at += bucket_bytes) lock_at(at).unlock();
    }
    count_ = 0;
  }

 private:
  struct Run {
    std::byte* begin;
    std::byte* end;
  };
  std::array<Run, max_group_size> runs_;
  std::size_t count_ = 0;
};

// One query, from locking its cells to writing its states. Queries that reserve receipts are slower, and compiled
// separately.
template <bool reserves>
class Query {
 public:
  Query(std::span<const Check> checks, std::span<core::ReceiptUse* const> receipts, Instant now) noexcept
      : checks_(checks), receipts_(receipts), now_(now) {
    for (std::size_t i = 0; i < checks.size(); ++i) std::construct_at(&parts_[i]);
  }

  void lock_cells() noexcept {
    while (!try_lock_cells()) locks_.unlock_all();
  }

  void unlock_cells() noexcept {
    locks_.unlock_all();
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (parts_[i].slot.overflowed) checks_[i].table->count_overflow();
    }
  }

  // Decides all checks on copies, in order: a repeated key sees the previous checks.
  bool evaluate() noexcept {
    bool admitted = true;
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      evaluate_one(i);
      admitted = admitted && checks_[i].decision->admitted;
    }
    return admitted;
  }

  void charge() noexcept {
    for (std::size_t i = 0; i < checks_.size(); ++i) charge_one(i);
    if constexpr (reserves) {
      for (std::size_t i = 0; i < checks_.size(); ++i) {
        if (receipts_[i] != nullptr) open_receipt(i);
      }
    }
  }

  // The limits that would have admitted are not charged: their remaining units are unchanged.
  void leave_uncharged() noexcept {
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (checks_[i].decision->admitted) *checks_[i].decision = peek(i, Cost{0});
    }
  }

 private:
  struct Part {
    Location location;
    Slot slot;
    bool made_room = false;
    bool overflows = false;  // no room: decided on a shared cell
    std::size_t leader = 0;  // the first check on the same cell, which has the copy
    alignas(WidePayload) std::array<std::byte, sizeof(WidePayload)> copy;
  };

  // The part of a check with a receipt.
  struct Opening {
    bool was_open = false;  // already charged
    core::ChargePosition charged;
  };
  struct NoOpenings {};

  template <class Work>
  decltype(auto) with(std::size_t i, Work&& work) noexcept {
    return checks_[i].table->with(*checks_[i].rule, std::forward<Work>(work));
  }

  // Locks the cells in the order of their home buckets. There are few checks, so an insertion sort is enough.
  bool try_lock_cells() noexcept {
    std::array<std::uint8_t, max_group_size> order;
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      locate(i);
      std::size_t at = i;
      for (; at > 0 && std::less<>{}(parts_[i].slot.first, parts_[order[at - 1]].slot.first); --at) {
        order[at] = order[at - 1];
      }
      order[at] = static_cast<std::uint8_t>(i);
    }
    for (std::size_t at = 0; at < checks_.size(); ++at) {
      if (!lock_cell(order[at])) return false;
    }
    return true;
  }

  void locate(std::size_t i) noexcept {
    const Check& check = checks_[i];
    Part& part = parts_[i];
    with(i, [&]<class A, class Payload>(const core::RuleOf<A>&, Cells<Payload>& cells) {
      part.location = cells.locate(check.request.key);
      std::byte* const first =
          part.overflows ? cells.overflow_bucket(cells.overflow_index(check.request.key)) : part.location.home;
      part.slot = Slot{.first = first, .locked = 1, .segment = part.location.shape.segment()};
    });
  }

  // Returns false if the table changed its shape: then all locking starts over.
  bool lock_cell(std::size_t i) noexcept {
    const Check& check = checks_[i];
    Part& part = parts_[i];
    return with(i, [&]<class A, class Payload>(const core::RuleOf<A>&, Cells<Payload>& cells) {
      locks_.lock(part.slot.first);
      if (part.overflows) {
        Cells<Payload>::settle_overflow(part.slot, cells.overflow_index(check.request.key));
        return true;
      }
      if (!cells.still_there(part.location)) return false;
      const std::uint64_t tag = Cells<Payload>::tag_of(check.request.key);
      const auto lock_next = [&](Slot& slot, unsigned n) {
        locks_.lock(slot.first + n * bucket_bytes);
        slot.locked = n + 1;
      };
      if (cells.search(part.slot, tag, lock_next)) return true;
      if (!part.made_room && cells.needs_room(part.location, core::micros(now_))) {
        part.made_room = true;
        locks_.unlock_all();
        std::ignore = cells.make_room(part.location, core::micros(now_));
        return false;
      }
      const auto taken = [&](std::byte* bucket, unsigned cell) { return is_taken(i, bucket, cell); };
      if (cells.claim(part.slot, part.location, core::micros(now_), lock_next, taken)) return true;
      locks_.unlock_all();
      part.overflows = !cells.make_room(part.location, core::micros(now_));
      return false;
    });
  }

  // True if the cell belongs to another check of this query: it may just have been claimed and must not move.
  [[nodiscard]] bool is_taken(std::size_t i, std::byte* bucket, unsigned cell) const noexcept {
    for (std::size_t j = 0; j < checks_.size(); ++j) {
      if (j != i && parts_[j].slot.bucket == bucket && parts_[j].slot.cell == cell) return true;
    }
    return false;
  }

  template <class Payload>
  Payload& copy_for(std::size_t i) noexcept {
    Part& part = parts_[i];
    part.leader = 0;
    while (!same_cell(i, part.leader)) ++part.leader;
    Payload& copy = copy_of<Payload>(part.leader);
    if (part.leader == i) copy = Cells<Payload>::payload(part.slot);
    return copy;
  }

  template <class Payload>
  Payload& copy_of(std::size_t i) noexcept {
    return *reinterpret_cast<Payload*>(parts_[i].copy.data());
  }

  [[nodiscard]] bool same_cell(std::size_t i, std::size_t j) const noexcept {
    return parts_[i].slot.bucket == parts_[j].slot.bucket && parts_[i].slot.cell == parts_[j].slot.cell;
  }

  // Returns the cost of this check and of earlier ones on the same log. A log is too long to copy, but costs charged at
  // one instant count as their sum.
  [[nodiscard]] Cost cost_up_to(std::size_t i) const noexcept {
    std::uint64_t cost = cost_of(i).units();
    for (std::size_t j = 0; j < i; ++j) {
      if (same_cell(i, j) && __builtin_add_overflow(cost, cost_of(j).units(), &cost)) {
        return Cost{std::numeric_limits<std::uint64_t>::max()};
      }
    }
    return Cost{cost};
  }

  [[nodiscard]] Cost cost_of(std::size_t i) const noexcept {
    if constexpr (reserves) {
      if (openings_[i].was_open) return Cost{0};
    }
    return checks_[i].request.cost;
  }

  [[nodiscard]] StateName name_of(std::size_t i) noexcept {
    const KeyHash key = checks_[i].request.key;
    if (!parts_[i].slot.overflowed) return {key.value, false};
    return with(i, [&]<class A, class Payload>(const core::RuleOf<A>&, Cells<Payload>& cells) {
      return StateName{cells.overflow_index(key), true};
    });
  }

  void look_for_receipt(std::size_t i) noexcept {
    receipts_[i]->result = core::ReceiptResult::none;
    checks_[i].table->receipts().with(name_of(i), [&](core::Receipts& receipts) {
      openings_[i].was_open = receipts.is_open(receipts_[i]->id, core::micros(now_));
    });
  }

  [[nodiscard]] Decision hold(std::size_t i, const core::Concurrency::Limit& limit, Cost cost,
                              std::uint64_t pending) noexcept {
    const Check& check = checks_[i];
    return check.table->receipts().hold(name_of(i), limit, cost, receipts_[i], pending, check.request.wants_more_after,
                                        core::micros(now_));
  }
  [[nodiscard]] bool has_room(std::size_t i) noexcept {
    return checks_[i].table->receipts().with_room(name_of(i), core::micros(now_), [](core::Receipts&) {});
  }

  void open_receipt(std::size_t i) noexcept {
    const Check& check = checks_[i];
    const auto open = [&](core::Receipts& receipts) {
      receipts.reserve(openings_[i].charged, check.request.cost, openings_[i].was_open, *receipts_[i],
                       core::micros(now_));
    };
    if (!check.table->receipts().with_room(name_of(i), core::micros(now_), open)) {
      receipts_[i]->result = core::ReceiptResult::not_kept;
    }
    if (!core::is_concurrency(*check.rule)) return;
    with(i, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        LockedState<A, Payload> locked(of.limit, cells, parts_[i].slot, now_);
        locked.state().ends = std::max(locked.state().ends, core::micros(receipts_[i]->ends));
        locked.keep();
      }
    });
  }

  void evaluate_one(std::size_t i) noexcept {
    if constexpr (reserves) {
      if (receipts_[i] != nullptr) look_for_receipt(i);
      evaluate_one(i, cost_of(i));
      if (openings_[i].was_open) core::admit_again(*checks_[i].decision);
    } else {
      evaluate_one(i, checks_[i].request.cost);
    }
  }

  void evaluate_one(std::size_t i, Cost cost) noexcept {
    const HashedRequest& request = checks_[i].request;
    Decision& decision = *checks_[i].decision;
    with(i, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>&) {
      if constexpr (std::is_same_v<Payload, LogPayload>) {
        decision = peek(i, cost_up_to(i));
        if constexpr (reserves) openings_[i].charged = {core::micros(decision.charged_at)};
      } else if constexpr (reserves && std::is_same_v<A, core::Concurrency>) {
        std::ignore = copy_for<Payload>(i);
        const std::uint64_t pending = cost_up_to(i).units() - cost.units();
        decision = hold(i, of.limit, cost, pending);
        if (decision.admitted && cost > Cost{0} && !has_room(i)) {
          decision = hold(i, of.limit, Cost{0}, pending);
          decision.admitted = false;  // without memory for the hold it could never be released
          decision.retry_after = Duration{of.limit.window};
        }
      } else {
        Payload& copy = copy_for<Payload>(i);
        auto state = Packing<A, Payload>::unpack(of.limit, copy, core::micros(now_));
        new (&decision) Decision(decide_state<A>(of.limit, state, cost, request.max_wait, now_));  // not copied
        if (decision.admitted && cost.units() > 0) copy = Packing<A, Payload>::pack(of.limit, state);
        if constexpr (reserves) {
          openings_[i].charged = core::charge_position<A>(of.limit, state, decision);
        }
        if (request.wants_more_after) {
          decision.more_after = core::until_more_after<A>(of.limit, state, decision, request.max_wait, now_);
        }
      }
    });
  }

  void charge_one(std::size_t i) noexcept {
    with(i, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
      if constexpr (std::is_same_v<Payload, LogPayload>) {
        LockedState<A, Payload> locked(of.limit, cells, parts_[i].slot, now_);
        std::ignore = A::decide(of.limit, locked.state(), cost_of(i), now_);
      } else if (parts_[i].leader == i) {
        Cells<Payload>::payload(parts_[i].slot) = copy_of<Payload>(i);
      }
    });
  }

  Decision peek(std::size_t i, Cost cost) noexcept {
    return with(i, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
      if constexpr (reserves && std::is_same_v<A, core::Concurrency>) {
        if (receipts_[i] != nullptr) return hold(i, of.limit, cost, 0);
      }
      const HashedRequest& request = checks_[i].request;
      LockedState<A, Payload> locked(of.limit, cells, parts_[i].slot, now_);
      Decision decision = peek_state<A>(of.limit, locked.state(), cost, request.max_wait, now_);
      if (request.wants_more_after) {
        decision.more_after =
            core::until_more_if_charged<A>(of.limit, locked.state(), cost, decision, request.max_wait, now_);
      }
      return decision;
    });
  }

  std::span<const Check> checks_;
  std::span<core::ReceiptUse* const> receipts_;  // empty, or one per check
  Instant now_;
  HeldLocks locks_;
  // One part per check. Unused parts are not constructed: most queries have few checks, but the maximum is large.
  union {
    std::array<Part, max_group_size> parts_;
  };
  [[no_unique_address]] std::conditional_t<reserves, std::array<Opening, max_group_size>, NoOpenings> openings_{};
};

template <bool reserves>
bool decide(Query<reserves>&& query) noexcept {
  query.lock_cells();
  const bool admitted = query.evaluate();
  if (admitted) {
    query.charge();
  } else {
    query.leave_uncharged();
  }
  query.unlock_cells();
  return admitted;
}

}  // namespace

bool decide_together(std::span<const Check> checks, Instant now) noexcept {
  assert(checks.size() <= max_group_size);
  if (checks.size() == 1) {
    const Check& only = checks[0];
    new (only.decision) Decision(only.table->decide(*only.rule, only.request, now));
    return only.decision->admitted;
  }
  return decide(Query<false>(checks, {}, now));
}

bool reserve_together(std::span<const Check> checks, std::span<core::ReceiptUse* const> receipts,
                      Instant now) noexcept {
  assert(checks.size() <= max_group_size && checks.size() == receipts.size());
  return decide(Query<true>(checks, receipts, now));
}

}  // namespace weir::table
