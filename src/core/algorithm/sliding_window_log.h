// Sliding window log: records every admitted cost with its time. It is exact: the window (now - W, now] never contains
// more than `limit`, and an entry of time t leaves it exactly at t + W.
//
// Memory is bounded by the limit: one ring of at most `limit` entries, created at the first charge. Costs of one
// instant share an entry. Writes use max(now, newest), so the times never decrease. Decisions take O(log limit).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "core/instant.h"
#include "weir/cost.h"
#include "weir/decision.h"

namespace weir::core {

// The entries, oldest first: the time, and the running total of costs up to it.
//
// Running totals instead of costs make every query a binary search. They wrap at 2^32, which is harmless: one ring
// holds far less. Twelve bytes per entry; the capacity is fixed at creation.
//
// Invariants: times do not decrease; every entry's cost is at least 1; size <= capacity.
class LogRing {
 public:
  struct Free {
    void operator()(LogRing* ring) const noexcept { ::operator delete(ring); }
  };
  using Handle = std::unique_ptr<LogRing, Free>;

  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t capacity) noexcept {
    return sizeof(LogRing) + std::size_t{capacity} * sizeof(Entry);
  }

  // Empty when out of memory.
  [[nodiscard]] static Handle create(std::uint32_t capacity) noexcept {
    void* memory = ::operator new(bytes_for(capacity), std::nothrow);
    return Handle{memory == nullptr ? nullptr : new (memory) LogRing(capacity)};
  }

  // A copy with room for `capacity` entries, which is at least the size. Empty when out of memory.
  [[nodiscard]] Handle copy(std::uint32_t capacity) const noexcept {
    Handle ring = create(capacity);
    if (!ring) return ring;
    ring->before_ = before_;
    ring->size_ = size_;
    for (std::uint32_t i = 0; i < size_; ++i) ring->at(i) = at(i);
    return ring;
  }

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t time(std::uint32_t i) const noexcept { return at(i).time(); }
  [[nodiscard]] std::int64_t newest() const noexcept { return time(size_ - 1); }
  [[nodiscard]] std::uint32_t cost(std::uint32_t i) const noexcept { return total_before(i + 1) - total_before(i); }

  // The total cost of the entries [from, to).
  [[nodiscard]] std::uint32_t cost_between(std::uint32_t from, std::uint32_t to) const noexcept {
    return total_before(to) - total_before(from);
  }

  // The first entry later than `time`; size() if there is none.
  [[nodiscard]] std::uint32_t first_after(std::int64_t time) const noexcept {
    return partition_point(0, [&](std::uint32_t i) { return at(i).time() <= time; });
  }

  // The first entry, `from` or later, at which the costs since `from` reach `cost`.
  [[nodiscard]] std::uint32_t first_reaching(std::uint32_t from, std::uint32_t cost) const noexcept {
    return partition_point(from, [&](std::uint32_t i) { return cost_between(from, i + 1) < cost; });
  }

  void drop_first(std::uint32_t count) noexcept {
    before_ = total_before(count);
    head_ = (head_ + count) % capacity_;
    size_ -= count;
  }

  void append(std::int64_t time, std::uint32_t cost) noexcept {
    const std::uint32_t total = total_before(size_) + cost;
    at(size_++) = Entry(time, total);
  }

  void add_to_newest(std::uint32_t cost) noexcept { at(size_ - 1).total += cost; }

  void move_newest_to(std::int64_t time) noexcept { at(size_ - 1) = Entry(time, at(size_ - 1).total); }

  // Deducts `cost` from entry i, and removes the entry if nothing is left.
  void take(std::uint32_t i, std::uint32_t cost) noexcept {
    const bool all = cost == this->cost(i);
    for (std::uint32_t j = i; j < size_; ++j) at(j).total -= cost;
    if (!all) return;
    for (std::uint32_t j = i + 1; j < size_; ++j) at(j - 1) = at(j);
    --size_;
  }

  void move_all_back_to(std::int64_t latest) noexcept {
    for (std::uint32_t i = first_after(latest); i < size_; ++i) at(i) = Entry(latest, at(i).total);
  }

 private:
  struct Entry {
    Entry(std::int64_t time, std::uint32_t total_with_it) noexcept
        : time_low(static_cast<std::uint32_t>(time)),
          time_high(static_cast<std::int32_t>(time >> 32)),
          total(total_with_it) {}

    [[nodiscard]] std::int64_t time() const noexcept {
      return static_cast<std::int64_t>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(time_high)) << 32) |
                                       time_low);
    }

    std::uint32_t time_low;
    std::int32_t time_high;
    std::uint32_t total;  // sum of all costs up to and including this entry
  };
  static_assert(sizeof(Entry) == 12);

  explicit LogRing(std::uint32_t capacity) noexcept : capacity_(capacity) {}

  [[nodiscard]] Entry& at(std::uint32_t i) noexcept { return reinterpret_cast<Entry*>(this + 1)[slot(i)]; }
  [[nodiscard]] const Entry& at(std::uint32_t i) const noexcept {
    return reinterpret_cast<const Entry*>(this + 1)[slot(i)];
  }
  [[nodiscard]] std::uint32_t slot(std::uint32_t i) const noexcept {
    const std::uint32_t slot = head_ + i;
    return slot < capacity_ ? slot : slot - capacity_;
  }
  [[nodiscard]] std::uint32_t total_before(std::uint32_t i) const noexcept {
    return i == 0 ? before_ : at(i - 1).total;
  }

  template <class Predicate>
  [[nodiscard]] std::uint32_t partition_point(std::uint32_t low, Predicate holds) const noexcept {
    std::uint32_t high = size_;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (holds(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::uint32_t capacity_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t before_ = 0;  // total before the first entry
};

struct SlidingWindowLog {
  struct Limit : WindowLimit {
    using WindowLimit::WindowLimit;

    [[nodiscard]] std::uint32_t max_entries() const noexcept { return static_cast<std::uint32_t>(limit); }
  };

  struct State {
    LogRing::Handle ring;  // empty: never used

    [[nodiscard]] bool empty() const noexcept { return !ring || ring->size() == 0; }
  };

  static Decision decide(const Limit& limit, State& state, Cost cost, Instant now) noexcept {
    Decision decision = peek(limit, state, cost, now);
    if (!decision.admitted || cost.units() == 0) return decision;
    if (make_room(limit, state, micros(now))) [[likely]] {
      charge(limit, state, static_cast<std::uint32_t>(cost.units()), micros(decision.charged_at));
    } else {
      // Out of memory: a request that cannot be recorded is denied.
      decision = peek(limit, state, Cost{0}, now);
      decision.admitted = false;
      decision.retry_after = Duration{limit.window};
    }
    return decision;
  }

  static Decision peek(const Limit& limit, const State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const std::int64_t newest = state.empty() ? never : state.ring->newest();
    const std::int64_t charged_at = std::max(now, newest);
    Decision decision{.limit = limit.limit, .charged_at = instant_at(charged_at)};
    const std::uint32_t first = first_live(limit, state, now);
    const std::uint64_t used = state.empty() ? 0 : state.ring->cost_between(first, state.ring->size());
    decision.remaining = limit.limit - std::min(used, limit.limit);
    if (used > 0) decision.reset_after = Duration{newest + limit.window - now};
    if (cost.units() > limit.limit) [[unlikely]] {
      decision.retry_after = std::nullopt;
    } else if (used + cost.units() <= limit.limit) {
      decision.admitted = true;
      decision.remaining -= cost.units();
      if (cost.units() > 0) decision.reset_after = Duration{charged_at + limit.window - now};
    } else {
      const auto excess = static_cast<std::uint32_t>(used + cost.units() - limit.limit);
      const std::int64_t last_in_the_way = state.ring->time(state.ring->first_reaching(first, excess));
      decision.retry_after = Duration{last_in_the_way + limit.window - now};
    }
    return decision;
  }

  // Credits the charged entry if it still counts.
  static void refund(const Limit& limit, State& state, Cost cost, const Charged& made, Instant now) noexcept {
    if (state.empty()) return;
    LogRing& ring = *state.ring;
    const std::int64_t charged = micros(made.at);
    const std::uint32_t i = ring.first_after(charged - 1);
    const bool still_counts = charged > micros(now) - limit.window && i < ring.size() && ring.time(i) == charged;
    if (!still_counts || cost.units() == 0) return;
    ring.take(i, static_cast<std::uint32_t>(std::min<std::uint64_t>(cost.units(), ring.cost(i))));
  }

  // Charges even if the limit is exceeded; the debt is at most one limit. Returns the units that did not fit.
  static std::uint64_t owe(const Limit& limit, State& state, Cost cost, Instant now_instant) noexcept {
    const std::int64_t now = micros(now_instant);
    const std::uint32_t first = first_live(limit, state, now);
    const std::uint64_t used = state.empty() ? 0 : state.ring->cost_between(first, state.ring->size());
    const std::uint64_t more = std::min(cost.units(), 2 * limit.limit - std::min(used, 2 * limit.limit));
    if (more == 0 || !make_room(limit, state, now)) return cost.units();
    charge(limit, state, static_cast<std::uint32_t>(more), state.empty() ? now : std::max(now, state.ring->newest()));
    return cost.units() - more;
  }

  // Keeps the entries, and moves those in the future to now.
  static void carry_over(const Limit& /*limit*/, State& state, Instant now) noexcept {
    if (state.ring) state.ring->move_all_back_to(micros(now));
  }

  static Instant forget_at(const Limit& limit, const State& state) noexcept {
    return instant_at(state.empty() ? never : state.ring->newest() + limit.window);
  }

 private:
  static std::uint32_t first_live(const Limit& limit, const State& state, std::int64_t now) noexcept {
    return state.empty() ? 0 : state.ring->first_after(now - limit.window);
  }

  // Drops expired entries and ensures that the ring exists and is large enough for this limit.
  static bool make_room(const Limit& limit, State& state, std::int64_t now) noexcept {
    if (!state.empty()) state.ring->drop_first(first_live(limit, state, now));
    if (state.ring && (state.ring->size() < state.ring->capacity() || full(limit, *state.ring))) return true;
    const std::uint32_t entries = limit.max_entries();
    LogRing::Handle larger = state.ring ? state.ring->copy(entries) : LogRing::create(entries);
    if (!larger) return false;
    state.ring = std::move(larger);
    return true;
  }

  // A charge beyond `limit` entries can come only from settling upward. The newest entry then takes the charge and
  // moves to its time, so that memory stays bounded.
  static void charge(const Limit& limit, State& state, std::uint32_t cost, std::int64_t time) noexcept {
    LogRing& ring = *state.ring;
    if (ring.size() > 0 && (ring.newest() == time || full(limit, ring))) {
      ring.add_to_newest(cost);
      ring.move_newest_to(time);
    } else {
      ring.append(time, cost);
    }
  }

  static bool full(const Limit& limit, const LogRing& ring) noexcept {
    return ring.size() >= limit.max_entries() && ring.size() > 0;
  }
};

}  // namespace weir::core
