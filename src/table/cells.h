// Key hash -> cell, in memory that grows in small steps within a budget. Callable from any thread.
//
// Layout. The upper bits of a hash choose a segment through a directory; the lower 32 choose a home bucket in
// it, in proportion: home = low x homes / 2^32. A key lives in its home bucket or in one of the next `reach` - 1,
// without wrapping: a segment has `reach` - 1 more buckets than homes. Each segment has a fixed slot of address
// space and grows in place by a sixteenth or an eighth; at the largest size it splits in two. So growing touches one
// segment of at most 128 KiB, needs no second copy of the table, and nothing is ever freed under a reader's feet.
//
// While the budget allows, a segment grows as soon as three quarters of the cells in its home buckets are taken: then
// seven narrow states of eight lie in their home bucket, which is one wait for memory. Without budget it fills up until
// there is no place within reach.
//
// Invariants.
// 1. Any bucket lock of a segment freezes its shape: a change of shape takes all its bucket locks, in order.
//    Whoever has locked a bucket and does not find its key there checks that the shape is still the one it came by.
// 2. Locks are taken in the order of addresses.
// 3. A key is in at most one cell. A search ends at the first bucket of the chain that does not go on.
// 4. Only dead cells are overwritten. Without room a key is sent to one of the overflow cells, which are
//    shared and never move.
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

// A locked cell: the buckets [first, first + held) are locked.
struct Slot {
  std::byte* first = nullptr;
  unsigned held = 0;
  std::uint32_t segment = 0;
  std::byte* bucket = nullptr;  // of the cell; null if the key has none
  unsigned cell = 0;
  bool fresh = false;       // the cell was just claimed
  bool overflowed = false;  // a shared cell, for want of room
};

// Where the search for a key begins: its home bucket, and the shape it was found by.
struct Place {
  std::byte* home = nullptr;
  Shape shape;
  KeyHash hash;
};

inline constexpr std::size_t bucket_bytes = 64;

// After an attempt to make room that failed, how long the next one waits: a flood must not buy work.
inline constexpr std::int64_t stuck_for = 100'000;

inline BucketLock& lock_at(std::byte* bucket) noexcept {
  return *reinterpret_cast<BucketLock*>(bucket);
}

inline void unlock(const Slot& slot) noexcept {
  for (unsigned i = 0; i < slot.held; ++i) lock_at(slot.first + i * bucket_bytes).unlock();
}

template <class Payload>
class Cells {
 public:
  static constexpr unsigned reach = 32 / Bucket<Payload>::cells;
  static constexpr std::uint32_t page_buckets = Region::page / bucket_bytes;
  static constexpr std::uint32_t max_buckets = 2048;  // of a segment: 128 KiB
  static constexpr unsigned bucket_cells = Bucket<Payload>::cells;
  // A larger step moves each key fewer times, and leaves more room unused: for narrow states memory comes first.
  static constexpr std::uint32_t parts_to_grow_by = bucket_cells > 2 ? 16 : 8;

  // What a newcomer finds no room for goes to one of `overflow_cells` shared cells. `extra_bytes` is what a
  // cell owns outside of the table.
  static Result<std::unique_ptr<Cells>> create(Budget& budget, unsigned overflow_cells, std::size_t extra_bytes);
  ~Cells();

  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  static Bucket<Payload>& bucket_at(std::byte* bucket) noexcept { return *reinterpret_cast<Bucket<Payload>*>(bucket); }
  static Payload& payload(const Slot& slot) noexcept { return bucket_at(slot.bucket).payload(slot.cell); }

  // The home bucket and the next: one narrow state in eight lies there.
  void prefetch(KeyHash hash) const noexcept { prefetch(&bucket_at(locate(hash).home)); }
  static void prefetch(const Bucket<Payload>* home) noexcept {
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 1, 1);
  }

  // Locks the key's cell, or one claimed for it, or the shared one it overflows to. A claimed cell that is not
  // written is to be given up.
  [[nodiscard]] Slot find_or_claim(KeyHash hash, std::int64_t now) noexcept {
    return find_or_claim_from(lock_home(hash), now);
  }

  // The same for a caller that has locked the place's home, and it is still there.
  [[nodiscard]] Slot find_or_claim_from(Place place, std::int64_t now) noexcept {
    for (bool asked = false;; asked = true, place = lock_home(place.hash)) {
      Slot slot = slot_at(place);
      if (search(slot, tag_of(place.hash))) [[likely]]
        return slot;
      const bool room_first = !asked && (worn(slot, place.hash) || wants_room(place, now));
      if (!room_first && claim(slot, place, now)) return slot;
      unlock(slot);
      const bool try_again = make_room(place, now);
      if (!try_again && !room_first) return lock_overflow(overflow_index(place.hash));
    }
  }

  // Locks the key's cell if it has one, else the buckets in which it would have been found.
  [[nodiscard]] Slot find(KeyHash hash) noexcept {
    Slot slot = slot_at(lock_home(hash));
    (void)search(slot, tag_of(hash));
    return slot;
  }

  // The pieces of find_or_claim, for callers that hold several locks (together.cpp).

  [[nodiscard]] [[gnu::always_inline]] Place locate(KeyHash hash) const noexcept {
    const Shape shape = directory_.at(hash.value);
    return {begin_of(shape) + home_of(hash.value, shape.homes()) * bucket_bytes, shape, hash};
  }

  // To be asked with the lock of a bucket of the place.
  [[nodiscard]] [[gnu::always_inline]] bool still_there(const Place& place) const noexcept {
    return directory_.at(place.hash.value) == place.shape;
  }

  // The same for a caller that knows only the home: of all shapes that this bucket's segment may have had, the one that
  // it has now, and keeps while the bucket is locked, has the key at home here.
  [[nodiscard]] [[gnu::always_inline]] bool is_home(const Bucket<Payload>* bucket, KeyHash hash) const noexcept {
    return &bucket_at(locate(hash).home) == bucket;
  }

  // A tag has the lower bits of its hash, so either will do.
  [[nodiscard]] static std::uint64_t home_of(std::uint64_t hash_or_tag, std::uint64_t homes) noexcept {
    return ((hash_or_tag & 0xffffffff) * homes) >> 32;
  }

  [[nodiscard]] static std::uint64_t tag_of(KeyHash hash) noexcept {
    const std::uint64_t tag = hash.value & ~top_bit;
    return tag != 0 ? tag : 1;
  }

  // Whether the key has a cell; locks the buckets on the way by `lock_next(slot)`.
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
      if (!bucket_at(at).goes_on() || i + 1 == reach) return false;
      lock_next(slot, i + 1);
    }
  }

  // Whether the segment of a place is so full, and the budget such, that room should be made before a claim; once, for
  // it may turn out that there is none to make. Not where the home has a dead cell: a claim of that fills nothing. To
  // be asked with the home's lock.
  [[nodiscard]] bool wants_room(const Place& place, std::int64_t now) const noexcept {
    constexpr std::size_t enough_for_a_split = 16 * Region::page;
    return occupied_beyond(12, place.shape) && !has_dead(place.home, now) &&
           budget_.has(std::max(extra_bytes_, enough_for_a_split)) && !stuck(place.shape, now);
  }

  // Claims a cell within reach that is dead or empty for a key that a search has not found. False if there is none, or
  // no room for what the cell owns. `taken(bucket, cell)` tells which cells must stay as they are.
  template <class LockNext, class Taken>
  bool claim(Slot& slot, const Place& place, std::int64_t now, LockNext lock_next, Taken taken) noexcept {
    for (unsigned i = 0; i < reach; ++i) {
      if (i >= slot.held) lock_next(slot, i);
      const unsigned cell = free_cell(slot.first + i * bucket_bytes, now, taken);
      if (cell < bucket_cells) return occupy(slot, i, cell, tag_of(place.hash));
    }
    const Vacancy vacancy = hop(slot, place, now, lock_next, taken);
    return vacancy.found && occupy(slot, vacancy.bucket, vacancy.cell, tag_of(place.hash));
  }

  // Cleans, grows or splits the segment of a place; the caller holds no lock. True if it is worth trying
  // again there, false if the budget allows nothing more.
  bool make_room(const Place& place, std::int64_t now) noexcept;

  // The shared cells.
  [[nodiscard]] unsigned overflow_cells() const noexcept { return overflow_cells_; }
  [[nodiscard]] unsigned overflow_index(KeyHash hash) const noexcept {
    return static_cast<unsigned>(((hash.value >> 32) * overflow_cells_) >> 32);
  }
  [[nodiscard]] std::byte* overflow_bucket(unsigned index) const noexcept {
    return overflow_begin_ + std::size_t{index / bucket_cells} * bucket_bytes;
  }
  [[nodiscard]] Slot lock_overflow(unsigned index) noexcept {
    Slot slot{.first = overflow_bucket(index), .held = 1};
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

  // Calls visit(hash, payload) for each cell that is alive, a segment at a time under its locks. A cell that
  // moves to a new segment meanwhile may be visited again, the later visit being the newer. After each segment,
  // with no lock held, go_on() says whether to go on.
  template <class Visit, class GoOn>
  void for_each(std::int64_t now, Visit visit, GoOn go_on);

  // How many cells are alive, estimated from some of the segments.
  [[nodiscard]] std::uint64_t estimate_live(std::int64_t now) noexcept;

  // Bytes that a cell owns outside of the table: what a claim takes from the budget, and what it came to.
  [[nodiscard]] std::size_t extra_bytes() const noexcept { return extra_bytes_; }
  void account(std::size_t before, std::size_t after) noexcept {
    if (after > before) budget_.take_regardless(after - before);
    if (after < before) budget_.give(before - after);
  }

  // What the payload owns goes, and its bytes return to the budget.
  void dispose(Payload& payload) noexcept;

 private:
  struct Entry {
    std::uint64_t tag;
    Payload payload;
    std::uint32_t bucket;  // where it will go
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

  [[nodiscard]] Place lock_home(KeyHash hash) noexcept {
    for (;;) {
      const Place place = locate(hash);
      lock_at(place.home).lock();
      if (still_there(place)) [[likely]]
        return place;
      lock_at(place.home).unlock();
    }
  }
  // Its home is locked.
  [[nodiscard]] static Slot slot_at(const Place& place) noexcept {
    return {.first = place.home, .held = 1, .segment = place.shape.segment()};
  }
  static void lock_one_more(Slot& slot, unsigned i) noexcept {
    lock_at(slot.first + i * bucket_bytes).lock();
    slot.held = i + 1;
  }
  bool search(Slot& slot, std::uint64_t tag) noexcept { return search(slot, tag, lock_one_more); }
  bool claim(Slot& slot, const Place& place, std::int64_t now) noexcept {
    return claim(slot, place, now, lock_one_more, [](std::byte*, unsigned) { return false; });
  }

  // Chains only grow longer as keys come and go, until the segment is rebuilt. So now and then a newcomer that
  // had to search one to its end sees to that.
  [[nodiscard]] static bool worn(const Slot& slot, KeyHash hash) noexcept {
    return slot.held == reach && ((hash.value >> 40) & 1023) == 0;
  }

  // A cell of a bucket that is dead, or else empty; `bucket_cells` if there is none. The dead come first: so cells that
  // come and go fill no others.
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

  // A cell that was made free, as counted from the home bucket.
  struct Vacancy {
    bool found = false;
    unsigned bucket = 0;
    unsigned cell = 0;
  };

  // With all cells within reach alive: takes the nearest free cell beyond and brings it here, by moving cells
  // that lie before it into it, as far as their own reach allows.
  template <class LockNext, class Taken>
  Vacancy hop(Slot& slot, const Place& place, std::int64_t now, LockNext& lock_next, Taken& taken) noexcept;
  template <class Taken>
  bool move_into(Vacancy& vacancy, const Slot& slot, std::uint64_t home, std::uint64_t homes, Taken& taken) noexcept;

  bool occupy(Slot& slot, unsigned i, unsigned cell, std::uint64_t tag) noexcept;

  // Shape: cells_shape.h. The caller holds shape_mutex_ and all bucket locks of the segment.
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
    std::uint64_t prefix;                // the upper bits that its hashes share,
    unsigned depth;                      // and how many they are
    std::atomic<std::int64_t> stuck_at;  // when no room could be made
    std::atomic<std::int32_t> occupied;  // cells with a tag
  };

  void count_occupied(std::uint32_t segment, std::int32_t more) noexcept {
    segment_info_[segment].occupied.fetch_add(more, std::memory_order_relaxed);
  }
  // Of the cells in home buckets, so many sixteenths.
  [[nodiscard]] bool occupied_beyond(unsigned sixteenths, Shape shape) const noexcept {
    const auto occupied = segment_info_[shape.segment()].occupied.load(std::memory_order_relaxed);
    return occupied > static_cast<std::int32_t>(shape.homes() * bucket_cells * sixteenths / 16);
  }
  [[nodiscard]] bool stuck(Shape shape, std::int64_t now) const noexcept {
    const std::int64_t since = now - segment_info_[shape.segment()].stuck_at.load(std::memory_order_relaxed);
    return since >= 0 && since < stuck_for;
  }

  // What a segment takes beside its buckets: itself and, on average, two entries on each level of the directory.
  static constexpr std::size_t segment_shape_bytes = sizeof(Segment) + 4 * sizeof(Shape);

  Budget& budget_;
  const unsigned overflow_cells_;
  const std::size_t extra_bytes_;

  // Readable by all.
  Directory directory_;

  // Guarded by shape_mutex_, which is taken before any bucket lock; the atomics in it are for all.
  std::mutex shape_mutex_;
  unsigned directory_bits_ = 1;  // at most
  std::uint32_t segments_ = 2;
  Segment* segment_info_ = nullptr;

  Region shape_;  // holds the arrays above
  Region buckets_;
  std::byte* overflow_begin_ = nullptr;
};

}  // namespace weir::table

#include "table/cells_shape.h"
