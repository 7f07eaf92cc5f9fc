// Key hash -> cell, in memory that grows in small steps within a budget. Callable from any thread.
//
// Layout. The upper bits of a hash select a segment through a directory; the lower 32 select a home bucket in it, in
// proportion: home = low x homes / 2^32. A key is in its home bucket or in one of the next `reach` - 1, without
// wrapping: a segment has `reach` - 1 more buckets than homes. Each segment has a fixed slot of address space and grows
// in place by a sixteenth or an eighth; at its maximum size it splits in two. Growing touches one segment of at most
// 128 KiB, needs no second copy of the table, and never frees memory that a reader may use.
//
// While the budget allows, a segment grows as soon as three quarters of the cells in its home buckets are occupied:
// then seven of eight narrow states are in their home bucket, which costs one memory access. Without budget it fills up
// until there is no free cell within reach.
//
// Invariants:
// 1. Any bucket lock of a segment freezes its shape: a change of shape takes all its bucket locks, in order. A thread
//    that locked a bucket but did not find its key there must verify that the shape that led to it still applies.
// 2. Locks are taken in the order of addresses.
// 3. A key is in at most one cell. A search ends at the first bucket of the chain without a continuation.
// 4. Only dead cells are overwritten. Without room a key is assigned to one of the overflow cells, which are shared and
//    never move.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "table/bucket.h"
#include "table/memory.h"
#include "weir/result.h"

namespace weir::table {

// A keyed hash of a consumer's key.
struct KeyHash {
  std::uint64_t value = 0;

  friend bool operator==(KeyHash, KeyHash) = default;
};

// A locked cell: the buckets [first, first + locked) are locked.
struct Slot {
  std::byte* first = nullptr;
  unsigned locked = 0;
  std::uint32_t segment = 0;
  std::byte* bucket = nullptr;  // bucket of the cell; null if the key has no cell
  unsigned cell = 0;
  bool fresh = false;       // the cell was just claimed
  bool overflowed = false;  // the cell is shared, for lack of room
};

// The start of a key's search: its home bucket, and the shape that led to it.
struct Location {
  std::byte* home = nullptr;
  Shape shape;
  KeyHash hash;
};

inline constexpr std::size_t bucket_bytes = 64;

// The minimum time between failed attempts to make room, so that a flood of keys cannot cause unbounded work.
inline constexpr std::int64_t stuck_for = 100'000;

inline BucketLock& lock_at(std::byte* bucket) noexcept {
  return *reinterpret_cast<BucketLock*>(bucket);
}

inline void unlock(const Slot& slot) noexcept {
  for (unsigned i = 0; i < slot.locked; ++i) lock_at(slot.first + i * bucket_bytes).unlock();
}

template <class Payload>
class Cells {
 public:
  static constexpr unsigned reach = 32 / Bucket<Payload>::cells;
  static constexpr std::uint32_t page_buckets = Region::page / bucket_bytes;
  static constexpr std::uint32_t max_buckets = 2048;  // per segment: 128 KiB
  static constexpr unsigned bucket_cells = Bucket<Payload>::cells;
  // A larger step moves each key fewer times but leaves more room unused: for narrow states memory matters more.
  static constexpr std::uint32_t parts_to_grow_by = bucket_cells > 2 ? 16 : 8;

  // A new key without room goes to one of `overflow_cells` shared cells. `extra_bytes` is the memory that each cell
  // owns outside the table.
  static Result<std::unique_ptr<Cells>> create(Budget& budget, unsigned overflow_cells, std::size_t extra_bytes);
  ~Cells();

  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  static Bucket<Payload>& bucket_at(std::byte* bucket) noexcept { return *reinterpret_cast<Bucket<Payload>*>(bucket); }
  static Payload& payload(const Slot& slot) noexcept { return bucket_at(slot.bucket).payload(slot.cell); }

  // Prefetches the home bucket and the next one, which contains one in eight of the narrow states.
  void prefetch(KeyHash hash) const noexcept { prefetch(&bucket_at(locate(hash).home)); }
  static void prefetch(const Bucket<Payload>* home) noexcept {
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 1, 1);
  }

  // Locks the key's cell, or one claimed for it, or the shared one it overflows to. A claimed cell that is not written
  // must be released.
  [[nodiscard]] Slot find_or_claim(KeyHash hash, std::int64_t now) noexcept {
    return find_or_claim_from(lock_home(hash), now);
  }

  // Like find_or_claim. The caller must have locked the location's home and verified it with still_there().
  [[nodiscard]] Slot find_or_claim_from(Location location, std::int64_t now) noexcept {
    for (bool made_room = false;; made_room = true, location = lock_home(location.hash)) {
      Slot slot = slot_at(location);
      if (search(slot, tag_of(location.hash))) [[likely]]
        return slot;
      const bool room_first = !made_room && (worn(slot, location.hash) || needs_room(location, now));
      if (!room_first && claim(slot, location, now)) return slot;
      unlock(slot);
      const bool try_again = make_room(location, now);
      if (!try_again && !room_first) return lock_overflow(overflow_index(location.hash));
    }
  }

  // Locks the key's cell or, if it has none, the buckets in which it would have been found.
  [[nodiscard]] Slot find(KeyHash hash) noexcept {
    Slot slot = slot_at(lock_home(hash));
    (void)search(slot, tag_of(hash));
    return slot;
  }

  // The steps of find_or_claim, for callers that hold several locks (together.cpp).

  [[nodiscard]] [[gnu::always_inline]] Location locate(KeyHash hash) const noexcept {
    const Shape shape = directory_.at(hash.value);
    return {begin_of(shape) + home_of(hash.value, shape.homes()) * bucket_bytes, shape, hash};
  }

  // Requires the lock of a bucket of the location.
  [[nodiscard]] [[gnu::always_inline]] bool still_there(const Location& location) const noexcept {
    return directory_.at(location.hash.value) == location.shape;
  }

  // True if `bucket` is the key's home in the current shape of its segment. The shape cannot change while the bucket is
  // locked. Used by callers that know the bucket but not the shape that led to it.
  [[nodiscard]] [[gnu::always_inline]] bool is_home(const Bucket<Payload>* bucket, KeyHash hash) const noexcept {
    return &bucket_at(locate(hash).home) == bucket;
  }

  // Returns the home bucket of a key. Accepts its hash or its tag, which has the same lower bits.
  [[nodiscard]] static std::uint64_t home_of(std::uint64_t hash_or_tag, std::uint64_t homes) noexcept {
    return ((hash_or_tag & 0xffffffff) * homes) >> 32;
  }

  [[nodiscard]] static std::uint64_t tag_of(KeyHash hash) noexcept {
    const std::uint64_t tag = hash.value & ~top_bit;
    return tag != 0 ? tag : 1;
  }

  // Returns true if the key has a cell; locks further buckets with `lock_next(slot)`.
  template <class LockNext>
  bool search(Slot& slot, std::uint64_t tag, LockNext lock_next) noexcept {
    for (unsigned i = 0;; ++i) {
      std::byte* at = slot.first + i * bucket_bytes;
      const unsigned cell = bucket_at(at).find(tag);
      if (cell < bucket_cells) [[likely]] {
        slot.bucket = at;
        slot.cell = cell;
        return true;
      }
      if (!bucket_at(at).continues() || i + 1 == reach) return false;
      lock_next(slot, i + 1);
    }
  }

  // True if room should be made before a claim: the segment is full enough, and the budget sufficient. Call it once per
  // claim, because making room may fail. False if the home has a dead cell, since claiming that one fills nothing.
  // Needs the home's lock.
  [[nodiscard]] bool needs_room(const Location& location, std::int64_t now) const noexcept {
    constexpr std::size_t enough_for_a_split = 16 * Region::page;
    return occupied_beyond(12, location.shape) && !has_dead(location.home, now) &&
           budget_.has(std::max(extra_bytes_, enough_for_a_split)) && !stuck(location.shape, now);
  }

  // Claims a dead or empty cell within reach for a key that a search has not found. Returns false if there is no such
  // cell, or no memory for what the cell owns. `taken(bucket, cell)` marks cells that must not change.
  template <class LockNext, class Taken>
  bool claim(Slot& slot, const Location& location, std::int64_t now, LockNext lock_next, Taken taken) noexcept {
    for (unsigned i = 0; i < reach; ++i) {
      if (i >= slot.locked) lock_next(slot, i);
      const unsigned cell = free_cell(slot.first + i * bucket_bytes, now, taken);
      if (cell < bucket_cells) return occupy(slot, i, cell, tag_of(location.hash));
    }
    const Vacancy vacancy = hop(slot, location, now, lock_next, taken);
    return vacancy.found && occupy(slot, vacancy.bucket, vacancy.cell, tag_of(location.hash));
  }

  // Cleans, grows or splits the segment of a location; the caller holds no lock. Returns true if a retry may succeed,
  // false if the budget is exhausted.
  bool make_room(const Location& location, std::int64_t now) noexcept;

  // The overflow cells, shared by the keys that found no room.
  [[nodiscard]] unsigned overflow_cells() const noexcept { return overflow_cells_; }
  [[nodiscard]] unsigned overflow_index(KeyHash hash) const noexcept {
    return static_cast<unsigned>(((hash.value >> 32) * overflow_cells_) >> 32);
  }
  [[nodiscard]] std::byte* overflow_bucket(unsigned index) const noexcept {
    return overflow_begin_ + std::size_t{index / bucket_cells} * bucket_bytes;
  }
  [[nodiscard]] Slot lock_overflow(unsigned index) noexcept {
    Slot slot{.first = overflow_bucket(index), .locked = 1};
    lock_at(slot.first).lock();
    settle_overflow(slot, index);
    return slot;
  }
  // Points a slot whose bucket is locked to a shared cell.
  static void settle_overflow(Slot& slot, unsigned index) noexcept {
    slot.bucket = slot.first;
    slot.cell = index % bucket_cells;
    slot.overflowed = true;
  }

  void give_up_if_fresh(const Slot& slot) noexcept {
    if (slot.fresh) [[unlikely]]
      erase(slot);
  }

  // Frees a cell that is not shared; the caller holds its lock.
  void erase(const Slot& slot) noexcept {
    dispose(payload(slot));
    bucket_at(slot.bucket).set_tag(slot.cell, 0);
    count_occupied(slot.segment, -1);
  }

  // Calls visit(hash, payload) for each live cell, one segment at a time under its locks. A cell that moves to a new
  // segment in the meantime may be visited again; the later visit is the newer. After each segment, with no lock held,
  // go_on() decides whether to continue.
  template <class Visit, class GoOn>
  void for_each(std::int64_t now, Visit visit, GoOn go_on);

  // The number of live cells, estimated from a sample of segments.
  [[nodiscard]] std::uint64_t estimate_live(std::int64_t now) noexcept;

  // extra_bytes() is reserved by each claim for memory that the cell owns outside the table. account() records a change
  // of that memory's size.
  [[nodiscard]] std::size_t extra_bytes() const noexcept { return extra_bytes_; }
  void account(std::size_t before, std::size_t after) noexcept {
    if (after > before) budget_.take_regardless(after - before);
    if (after < before) budget_.give(before - after);
  }

  // Frees what the payload owns and returns its bytes to the budget.
  void dispose(Payload& payload) noexcept;

 private:
  struct Entry {
    std::uint64_t tag;
    Payload payload;
    std::uint32_t bucket;  // destination bucket
  };
  struct Gathered {
    std::unique_ptr<Entry[]> entries;
    std::uint32_t count = 0;
  };

  Cells(Budget& budget, unsigned overflow_cells, std::size_t extra_bytes) noexcept
      : budget_(budget), overflow_cells_(overflow_cells), extra_bytes_(extra_bytes) {}

  [[nodiscard]] std::byte* begin_of(Shape shape) const noexcept {
    return buckets_.data() + shape.page() * Region::page;
  }
  [[nodiscard]] std::byte* segment_begin(std::uint32_t segment) const noexcept {
    return begin_of(segment_info_[segment].shape);
  }

  [[nodiscard]] Location lock_home(KeyHash hash) noexcept {
    for (;;) {
      const Location location = locate(hash);
      lock_at(location.home).lock();
      if (still_there(location)) [[likely]]
        return location;
      lock_at(location.home).unlock();
    }
  }
  // Requires that the home is locked.
  [[nodiscard]] static Slot slot_at(const Location& location) noexcept {
    return {.first = location.home, .locked = 1, .segment = location.shape.segment()};
  }
  static void lock_one_more(Slot& slot, unsigned i) noexcept {
    lock_at(slot.first + i * bucket_bytes).lock();
    slot.locked = i + 1;
  }
  bool search(Slot& slot, std::uint64_t tag) noexcept { return search(slot, tag, lock_one_more); }
  bool claim(Slot& slot, const Location& location, std::int64_t now) noexcept {
    return claim(slot, location, now, lock_one_more, [](std::byte*, unsigned) { return false; });
  }

  // Chains only grow as keys come and go, until the segment is rebuilt. So about one in 1,024 new keys that had to
  // search a whole chain triggers a rebuild.
  [[nodiscard]] static bool worn(const Slot& slot, KeyHash hash) noexcept {
    return slot.locked == reach && ((hash.value >> 40) & 1023) == 0;
  }

  // A dead cell of a bucket, or else an empty one; `bucket_cells` if there is none. Dead cells come first, so that
  // short-lived keys do not fill further cells.
  template <class Taken>
  [[nodiscard]] static unsigned free_cell(std::byte* at, std::int64_t now, Taken& taken) noexcept {
    Bucket<Payload>& bucket = bucket_at(at);
    unsigned empty = bucket_cells;
    for (unsigned cell = 0; cell < bucket_cells; ++cell) {
      if (taken(at, cell)) continue;
      if (bucket.tag(cell) == 0) {
        empty = cell;
      } else if (bucket.payload(cell).dead(now)) {
        return cell;
      }
    }
    return empty;
  }

  [[nodiscard]] static bool has_dead(std::byte* at, std::int64_t now) noexcept {
    Bucket<Payload>& bucket = bucket_at(at);
    for (unsigned cell = 0; cell < bucket_cells; ++cell) {
      if (bucket.tag(cell) != 0 && bucket.payload(cell).dead(now)) return true;
    }
    return false;
  }

  // A free cell, counted from the home bucket.
  struct Vacancy {
    bool found = false;
    unsigned bucket = 0;
    unsigned cell = 0;
  };

  // Called when all cells within reach are live. Finds the nearest free cell beyond the reach and brings it within
  // reach by moving earlier cells into it, each within its own reach.
  template <class LockNext, class Taken>
  Vacancy hop(Slot& slot, const Location& location, std::int64_t now, LockNext& lock_next, Taken& taken) noexcept;
  template <class Taken>
  bool move_into(Vacancy& vacancy, const Slot& slot, std::uint64_t home, std::uint64_t homes, Taken& taken) noexcept;

  bool occupy(Slot& slot, unsigned i, unsigned cell, std::uint64_t tag) noexcept;

  // Shape changes, in cells_shape.h. The caller holds shape_mutex_ and all bucket locks of the segment.
  void lock_buckets(std::uint32_t segment, std::uint32_t from, std::uint32_t to) noexcept;
  void unlock_buckets(std::uint32_t segment, std::uint32_t to) noexcept;
  [[nodiscard]] std::uint32_t clean(std::uint32_t segment, std::uint32_t buckets, std::int64_t now) noexcept;
  static void insert_in_order(Gathered& live, const Entry& entry) noexcept;
  [[nodiscard]] bool gather(std::uint32_t segment, std::uint32_t buckets, Gathered& live) noexcept;
  [[nodiscard]] static bool plan(Entry* entries, std::uint32_t count, std::uint32_t buckets) noexcept;
  [[nodiscard]] bool plan_smallest(Entry* entries, std::uint32_t count, std::uint32_t& buckets) noexcept;
  void rebuild(std::uint32_t segment, const Entry* entries, std::uint32_t count, std::uint32_t buckets) noexcept;
  [[nodiscard]] bool tidy(std::uint32_t segment, std::uint32_t buckets) noexcept;
  [[nodiscard]] bool grow(std::uint32_t segment, std::uint32_t& buckets) noexcept;
  [[nodiscard]] bool split(std::uint32_t segment, Gathered& live, std::uint32_t& buckets) noexcept;
  void publish(std::uint32_t segment, std::uint64_t page, std::uint32_t buckets) noexcept;
  template <class Visit>
  void for_each_in(std::uint32_t segment, std::int64_t now, Visit& visit);

  struct Segment {
    Shape shape;
    std::uint64_t prefix;                // the upper bits that its hashes share
    unsigned depth;                      // the number of these bits
    std::atomic<std::int64_t> stuck_at;  // last time that no room could be made
    std::atomic<std::int32_t> occupied;  // cells with a tag
  };

  void count_occupied(std::uint32_t segment, std::int32_t more) noexcept {
    segment_info_[segment].occupied.fetch_add(more, std::memory_order_relaxed);
  }
  // True if more than `sixteenths`/16 of the cells in home buckets are occupied.
  [[nodiscard]] bool occupied_beyond(unsigned sixteenths, Shape shape) const noexcept {
    const auto occupied = segment_info_[shape.segment()].occupied.load(std::memory_order_relaxed);
    return occupied > static_cast<std::int32_t>(shape.homes() * bucket_cells * sixteenths / 16);
  }
  [[nodiscard]] bool stuck(Shape shape, std::int64_t now) const noexcept {
    const std::int64_t since = now - segment_info_[shape.segment()].stuck_at.load(std::memory_order_relaxed);
    return since >= 0 && since < stuck_for;
  }

  // A segment's size besides its buckets: itself and, on average, two entries on each level of the directory.
  static constexpr std::size_t segment_shape_bytes = sizeof(Segment) + 4 * sizeof(Shape);

  Budget& budget_;
  const unsigned overflow_cells_;
  const std::size_t extra_bytes_;

  // Readable by all threads.
  Directory directory_;

  // Guarded by shape_mutex_, which is taken before any bucket lock; any thread may access the atomics.
  std::mutex shape_mutex_;
  unsigned directory_bits_ = 1;  // maximum number of bits
  std::uint32_t segments_ = 2;
  Segment* segment_info_ = nullptr;

  Region shape_;  // holds the arrays above
  Region buckets_;
  std::byte* overflow_begin_ = nullptr;
};

}  // namespace weir::table

#include "table/cells_shape.h"
