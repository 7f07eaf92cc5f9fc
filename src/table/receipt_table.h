// The receipts of a table's states, next to the cells: few states have any, so cells have no room for them.
//
// The receipts of a state change under the lock of its cell, and so atomically with the state. The locks of the shards
// only guard the maps; a shard lock is taken last, for a single operation.
//
// The memory counts toward the table's budget; when the budget is exhausted, no receipt is opened. Expired entries are
// dropped when their state is used, and by a search when there is no room: at most `max_searched` states of a shard,
// continuing where the last search ended, so that the time of a call does not depend on the number of receipts.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/receipts.h"
#include "table/memory.h"

namespace weir::table {

// The owner of receipts: a key, or a shared cell by its number.
struct StateName {
  std::uint64_t value = 0;
  bool is_shared = false;

  friend bool operator==(const StateName&, const StateName&) = default;
};

class ReceiptTable {
 public:
  static constexpr std::size_t max_searched = 64;

  explicit ReceiptTable(Budget& budget) noexcept : budget_(budget) {}
  ReceiptTable(const ReceiptTable&) = delete;
  ReceiptTable& operator=(const ReceiptTable&) = delete;

  // A result of true is reliable only for a caller that holds the lock of the cell in question.
  [[nodiscard]] bool empty() const noexcept { return states_.load(std::memory_order_relaxed) == 0; }

  // Calls work(receipts) if the state has any. Receipts that are empty afterwards are removed.
  template <class Work>
  void with(StateName name, Work&& work) noexcept {
    if (empty()) return;
    Shard& shard = shard_of(name);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.states.find(name);
    if (found == shard.states.end()) return;
    const std::size_t before = bytes_of(found->second);
    work(found->second);
    budget_.give(before - bytes_of(found->second));
    if (found->second.empty()) remove(shard, found);
  }

  // Like with(), but creates receipts if necessary, with room for one more receipt and one more id. Returns false
  // without a call if there is no room.
  template <class Work>
  [[nodiscard]] bool with_room(StateName name, std::int64_t now, Work&& work) noexcept {
    Shard& shard = shard_of(name);
    const std::lock_guard lock(shard.mutex);
    const auto place = make_room(shard, name, now);
    if (place == shard.states.end()) return false;
    work(place->second);
    if (place->second.empty()) remove(shard, place);
    return true;
  }

  // Decides a concurrency limit; see core::Receipts::hold.
  [[nodiscard]] Decision hold(StateName name, const core::Concurrency::Limit& limit, Cost cost,
                              const core::ReceiptUse* use, std::uint64_t pending, bool wants_more_after,
                              std::int64_t now) noexcept {
    std::optional<Decision> decision;
    with(name,
         [&](core::Receipts& receipts) { decision = receipts.hold(limit, cost, use, pending, wants_more_after, now); });
    return decision ? *decision : core::Receipts{}.hold(limit, cost, use, pending, wants_more_after, now);
  }

  void erase(StateName name) noexcept {
    with(name, [](core::Receipts& receipts) { receipts = {}; });
  }

  // Replaces the receipts of a state with those of a snapshot or another table.
  void replace(StateName name, core::Receipts&& receipts) {
    erase(name);
    if (receipts.empty()) return;
    Shard& shard = shard_of(name);
    const std::lock_guard lock(shard.mutex);
    budget_.take_regardless(entry_bytes + bytes_of(receipts));
    shard.states.insert_or_assign(name, std::move(receipts));
    states_.fetch_add(1, std::memory_order_relaxed);
  }

  // The number of states examined by searches for room, for tests.
  [[nodiscard]] std::uint64_t searched() const noexcept { return searched_.load(std::memory_order_relaxed); }

  // Calls visit(name, receipts) for each state with receipts, one shard at a time under its lock.
  template <class Visit>
  void for_each(Visit visit) {
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (auto& [name, receipts] : shard.states) visit(name, receipts);
    }
  }

 private:
  struct Hash {
    std::size_t operator()(const StateName& name) const noexcept {
      return static_cast<std::size_t>(name.value * 0x9E3779B97F4A7C15U + (name.is_shared ? 1 : 0));
    }
  };
  using Map = std::unordered_map<StateName, core::Receipts, Hash>;
  struct Shard {
    std::mutex mutex;
    Map states;
    std::size_t next_bucket = 0;  // bucket of the map to search next
  };

  static constexpr std::size_t entry_bytes = sizeof(Map::value_type) + 4 * sizeof(void*);

  [[nodiscard]] static std::size_t bytes_of(const core::Receipts& receipts) noexcept {
    return receipts.open.capacity() * sizeof(core::Receipt) + receipts.reported.capacity() * sizeof(core::ReportedId);
  }

  [[nodiscard]] Shard& shard_of(StateName name) noexcept { return shards_[(name.value >> 20) % shards_.size()]; }

  void remove(Shard& shard, Map::iterator place) noexcept {
    budget_.give(entry_bytes + bytes_of(place->second));
    shard.states.erase(place);
    states_.fetch_sub(1, std::memory_order_relaxed);
  }

  Map::iterator make_room(Shard& shard, StateName name, std::int64_t now) noexcept try {
    auto place = shard.states.find(name);
    const bool is_new = place == shard.states.end();
    core::Receipts none;
    core::Receipts& receipts = is_new ? none : place->second;
    receipts.drop_ended(now);
    const std::size_t more = more_bytes(receipts) + (is_new ? entry_bytes : 0);
    if (!budget_.take(more)) {
      search(shard, now);
      place = shard.states.find(name);
      if (is_new != (place == shard.states.end()) || !budget_.take(more)) return shard.states.end();
    }
    const Taken taken{budget_, more};
    if (is_new) place = shard.states.try_emplace(name).first;
    grow(place->second.open);
    grow(place->second.reported);
    taken.commit();
    if (is_new) states_.fetch_add(1, std::memory_order_relaxed);
    return place;
  } catch (const std::bad_alloc&) {
    // A new entry whose vectors could not be allocated is empty and not yet counted, so it is removed.
    if (const auto found = shard.states.find(name); found != shard.states.end() && found->second.empty()) {
      shard.states.erase(found);
    }
    return shard.states.end();
  }

  // Returns the bytes to the budget unless committed.
  struct Taken {
    Budget& budget;
    std::size_t bytes;
    mutable bool committed = false;
    void commit() const noexcept { committed = true; }
    ~Taken() {
      if (!committed) budget.give(bytes);
    }
  };

  template <class T>
  [[nodiscard]] static std::size_t next_capacity(const std::vector<T>& of) noexcept {
    return of.size() < of.capacity() ? of.capacity() : std::max<std::size_t>(1, 2 * of.capacity());
  }
  template <class T>
  static void grow(std::vector<T>& of) {
    of.reserve(next_capacity(of));
  }
  [[nodiscard]] static std::size_t more_bytes(const core::Receipts& receipts) noexcept {
    return (next_capacity(receipts.open) - receipts.open.capacity()) * sizeof(core::Receipt) +
           (next_capacity(receipts.reported) - receipts.reported.capacity()) * sizeof(core::ReportedId);
  }

  // Drops expired entries. An empty bucket counts as one searched state. After a rehash of the map, the search
  // continues at an arbitrary bucket.
  void search(Shard& shard, std::int64_t now) noexcept {
    std::uint64_t searched = 0;
    for (std::size_t i = 0; i < max_searched && searched < max_searched; ++i) {
      const std::size_t bucket = shard.next_bucket++ % shard.states.bucket_count();
      for (auto at = shard.states.begin(bucket); at != shard.states.end(bucket); ++searched) {
        const StateName name = at->first;
        core::Receipts& receipts = at->second;
        ++at;
        receipts.drop_ended(now);
        if (receipts.empty()) remove(shard, shard.states.find(name));
      }
    }
    searched_.fetch_add(searched, std::memory_order_relaxed);
  }

  Budget& budget_;
  std::atomic<std::size_t> states_{0};  // number of states with receipts
  std::atomic<std::uint64_t> searched_{0};
  std::array<Shard, 16> shards_;
};

}  // namespace weir::table
