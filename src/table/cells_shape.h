// Growth: the part of Cells that changes the shape of a segment. A change is planned on a copy before anything moves,
// so it happens completely or not at all.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "core/algorithm/sliding_window_log.h"
#include "table/cells.h"
#include "table/packing.h"

namespace weir::table {

template <class Payload>
Result<std::unique_ptr<Cells<Payload>>> Cells<Payload>::create(Budget& budget, unsigned overflow_cells,
                                                               std::size_t extra_bytes) {
  std::unique_ptr<Cells> cells(new Cells(budget, overflow_cells, extra_bytes));
  constexpr std::size_t segment_bytes = std::size_t{max_buckets} * bucket_bytes;
  cells->directory_bits_ =
      std::max(1U, static_cast<unsigned>(std::bit_width(budget.total() / (segment_bytes / 2)) + 1));

  const std::size_t segments = std::size_t{1} << cells->directory_bits_;
  const std::size_t overflow_buckets = (overflow_cells + bucket_cells - 1) / bucket_cells;
  const std::size_t shape_bytes = Directory::bytes_for(cells->directory_bits_) + segments * sizeof(Segment);
  const std::size_t least = overflow_buckets * bucket_bytes + overflow_cells * extra_bytes + 2 * Region::page +
                            2 * segment_shape_bytes + extra_bytes;
  if (!budget.has(least)) {
    return failure("memory_budget", std::to_string(budget.total()) + " bytes is too small: must be at least " +
                                        std::to_string(budget.used() + least));
  }
  auto shape = Region::reserve(shape_bytes);
  if (!shape) return tl::unexpected(shape.error());
  auto buckets = Region::reserve(segments * segment_bytes + overflow_buckets * bucket_bytes);
  if (!buckets) return tl::unexpected(buckets.error());
  cells->shape_ = std::move(*shape);
  cells->buckets_ = std::move(*buckets);
  cells->overflow_begin_ = cells->buckets_.data() + segments * segment_bytes;

  cells->directory_.lie_at(cells->shape_.data());
  cells->segment_info_ =
      reinterpret_cast<Segment*>(cells->shape_.data() + Directory::bytes_for(cells->directory_bits_));
  for (std::uint32_t root = 0; root < 2; ++root) {
    Segment& segment = cells->segment_info_[root];
    segment.prefix = std::uint64_t{root} << 63;
    segment.depth = 1;
    segment.stuck_at.store(core::never, std::memory_order_relaxed);
    cells->publish(root, root * max_buckets / page_buckets, page_buckets);
  }
  const bool taken = budget.take(least - extra_bytes);
  return taken ? Result<std::unique_ptr<Cells>>(std::move(cells)) : failure("memory_budget", "is already in use");
}

template <class Payload>
Cells<Payload>::~Cells() {
  if constexpr (std::is_same_v<Payload, LogPayload>) {
    const auto all = [] { return true; };
    for_each(core::never, [&](KeyHash, Payload& payload) { dispose(payload); }, all);
    for (unsigned i = 0; i < overflow_cells_ && overflow_begin_ != nullptr; ++i) {
      dispose(bucket_at(overflow_bucket(i)).payload(i % bucket_cells));
    }
  }
}

template <class Payload>
void Cells<Payload>::dispose(Payload& payload) noexcept {
  if constexpr (std::is_same_v<Payload, LogPayload>) {
    budget_.give(payload.ring == nullptr ? extra_bytes_ : core::LogRing::bytes_for(payload.ring->capacity()));
    core::LogRing::Free{}(payload.ring);
  }
  payload = Payload{};
}

template <class Payload>
template <class LockNext, class Taken>
typename Cells<Payload>::Vacancy Cells<Payload>::hop(Slot& slot, const Location& location, std::int64_t now,
                                                     LockNext& lock_next, Taken& taken) noexcept {
  const auto home = static_cast<std::uint64_t>(slot.first - begin_of(location.shape)) / bucket_bytes;
  const std::uint64_t end =
      std::min<std::uint64_t>(std::uint64_t{8} * reach, location.shape.homes() + reach - 1 - home);
  Vacancy vacancy{.bucket = reach, .cell = bucket_cells};
  for (; vacancy.bucket < end; ++vacancy.bucket) {
    if (slot.locked <= vacancy.bucket) lock_next(slot, vacancy.bucket);
    vacancy.cell = free_cell(slot.first + vacancy.bucket * bucket_bytes, now, taken);
    if (vacancy.cell < bucket_cells) break;
  }
  if (vacancy.bucket == end) return {};
  while (vacancy.bucket >= reach) {
    if (!move_into(vacancy, slot, home, location.shape.homes(), taken)) return {};
  }
  vacancy.found = true;
  return vacancy;
}

// Moves an earlier cell into the vacancy; the moved cell's old position becomes the vacancy. Chooses the cell farthest
// from the vacancy that may go there.
template <class Payload>
template <class Taken>
bool Cells<Payload>::move_into(Vacancy& vacancy, const Slot& slot, std::uint64_t home, std::uint64_t homes,
                               Taken& taken) noexcept {
  Bucket<Payload>& target = bucket_at(slot.first + vacancy.bucket * bucket_bytes);
  for (unsigned from = vacancy.bucket - (reach - 1); from < vacancy.bucket; ++from) {
    std::byte* const at = slot.first + from * bucket_bytes;
    Bucket<Payload>& source = bucket_at(at);
    for (unsigned cell = 0; cell < bucket_cells; ++cell) {
      const std::uint64_t its_end = home_of(source.tag(cell), homes) + reach;
      if (home + vacancy.bucket >= its_end || taken(at, cell)) continue;
      if (target.tag(vacancy.cell) != 0) {
        dispose(target.payload(vacancy.cell));
        count_occupied(slot.segment, -1);
      }
      target.set_tag(vacancy.cell, source.tag(cell));
      target.payload(vacancy.cell) = source.payload(cell);
      source.set_tag(cell, 0);
      source.payload(cell) = Payload{};
      for (unsigned passed = from; passed < vacancy.bucket; ++passed) {
        bucket_at(slot.first + passed * bucket_bytes).set_continues();
      }
      vacancy.bucket = from;
      vacancy.cell = cell;
      return true;
    }
  }
  return false;
}

template <class Payload>
bool Cells<Payload>::occupy(Slot& slot, unsigned i, unsigned cell, std::uint64_t tag) noexcept {
  std::byte* const at = slot.first + i * bucket_bytes;
  Bucket<Payload>& bucket = bucket_at(at);
  const bool counted = bucket.tag(cell) != 0;
  if (counted) dispose(bucket.payload(cell));
  const bool has_budget = extra_bytes_ == 0 || budget_.take(extra_bytes_);
  bucket.set_tag(cell, has_budget ? tag : 0);
  if (counted != has_budget) count_occupied(slot.segment, has_budget ? 1 : -1);
  if (!has_budget) return false;
  slot.bucket = at;
  slot.cell = cell;
  for (unsigned passed = 0; passed < i; ++passed) bucket_at(slot.first + passed * bucket_bytes).set_continues();
  slot.fresh = true;
  return true;
}

template <class Payload>
bool Cells<Payload>::make_room(const Location& location, std::int64_t now) noexcept {
  if (stuck(location.shape, now)) return false;
  const std::lock_guard guard(shape_mutex_);
  if (!still_there(location)) return true;
  const std::uint32_t segment = location.shape.segment();
  std::uint32_t buckets = location.shape.homes() + reach - 1;
  lock_buckets(segment, 0, buckets);
  const std::uint32_t freed = clean(segment, buckets, now);
  // Growing while there are cells to clean would waste memory; cleaning repeatedly for a few cells would waste time.
  const bool wants_more = freed == 0 || occupied_beyond(11, location.shape);
  const bool has_budget = budget_.has(std::max<std::size_t>(extra_bytes_, Region::page));
  const bool grown = wants_more && has_budget && grow(segment, buckets);
  const bool tidied = !grown && freed >= buckets * bucket_cells / 8 && tidy(segment, buckets);
  const bool changed = grown || tidied || freed > 0;
  if (!changed) segment_info_[segment].stuck_at.store(now, std::memory_order_relaxed);
  unlock_buckets(segment, buckets);
  return changed;
}

template <class Payload>
void Cells<Payload>::lock_buckets(std::uint32_t segment, std::uint32_t from, std::uint32_t to) noexcept {
  for (std::uint32_t i = from; i < to; ++i) lock_at(segment_begin(segment) + i * bucket_bytes).lock();
}

template <class Payload>
void Cells<Payload>::unlock_buckets(std::uint32_t segment, std::uint32_t to) noexcept {
  for (std::uint32_t i = 0; i < to; ++i) lock_at(segment_begin(segment) + i * bucket_bytes).unlock();
}

// Empties dead cells and returns their number.
template <class Payload>
std::uint32_t Cells<Payload>::clean(std::uint32_t segment, std::uint32_t buckets, std::int64_t now) noexcept {
  std::uint32_t freed = 0;
  std::int32_t occupied = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    Bucket<Payload>& bucket = bucket_at(segment_begin(segment) + i * bucket_bytes);
    for (unsigned cell = 0; cell < bucket_cells; ++cell) {
      if (bucket.tag(cell) == 0) continue;
      ++occupied;
      if (!bucket.payload(cell).dead(now)) continue;
      dispose(bucket.payload(cell));
      bucket.set_tag(cell, 0);
      ++freed;
    }
  }
  assert(occupied == segment_info_[segment].occupied.load(std::memory_order_relaxed));
  segment_info_[segment].occupied.store(occupied - static_cast<std::int32_t>(freed), std::memory_order_relaxed);
  return freed;
}

// Cells are nearly in order already: each is within reach of its home.
template <class Payload>
void Cells<Payload>::insert_in_order(Gathered& live, const Entry& entry) noexcept {
  const auto order = [](const Entry& e) { return static_cast<std::uint32_t>(e.tag); };
  std::uint32_t at = live.count++;
  for (; at > 0 && order(live.entries[at - 1]) > order(entry); --at) live.entries[at] = live.entries[at - 1];
  live.entries[at] = entry;
}

// Copies the segment's cells, ordered by home. Returns false without memory for the copy.
template <class Payload>
bool Cells<Payload>::gather(std::uint32_t segment, std::uint32_t buckets, Gathered& live) noexcept {
  live.entries.reset(new (std::nothrow) Entry[std::size_t{buckets} * bucket_cells]);
  if (!live.entries) return false;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    Bucket<Payload>& bucket = bucket_at(segment_begin(segment) + i * bucket_bytes);
    for (unsigned cell = 0; cell < bucket_cells; ++cell) {
      if (bucket.tag(cell) == 0) continue;
      insert_in_order(live, Entry{bucket.tag(cell), bucket.payload(cell), 0});
    }
  }
  return true;
}

// Assigns each entry a bucket in a segment of `buckets` buckets. Returns false if an entry finds none within reach.
// Entries are assigned in the order of their homes, so that happens only if no placement exists.
template <class Payload>
bool Cells<Payload>::plan(Entry* entries, std::uint32_t count, std::uint32_t buckets) noexcept {
  std::array<std::uint8_t, max_buckets> filled{};
  const std::uint64_t homes = buckets - (reach - 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto home = static_cast<std::uint32_t>(home_of(entries[i].tag, homes));
    std::uint32_t bucket = home;
    while (bucket < home + reach && filled[bucket] == bucket_cells) ++bucket;
    if (bucket == home + reach) return false;
    ++filled[bucket];
    entries[i].bucket = bucket;
  }
  return true;
}

// Plans for the fewest whole pages, starting from `buckets`, in which the entries fit.
template <class Payload>
bool Cells<Payload>::plan_smallest(Entry* entries, std::uint32_t count, std::uint32_t& buckets) noexcept {
  for (; buckets <= max_buckets; buckets += page_buckets) {
    if (plan(entries, count, buckets)) return true;
  }
  return false;
}

// Overwrites the locked buckets with the planned entries and publishes the new size.
template <class Payload>
void Cells<Payload>::rebuild(std::uint32_t segment, const Entry* entries, std::uint32_t count,
                             std::uint32_t buckets) noexcept {
  std::array<std::uint8_t, max_buckets> filled{};
  const std::uint64_t homes = buckets - (reach - 1);
  std::byte* const begin = segment_begin(segment);
  for (std::uint32_t i = 0; i < buckets; ++i) bucket_at(begin + i * bucket_bytes).clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const Entry& entry = entries[i];
    const auto home = static_cast<std::uint32_t>(home_of(entry.tag, homes));
    for (std::uint32_t b = home; b < entry.bucket; ++b) bucket_at(begin + b * bucket_bytes).set_continues();
    Bucket<Payload>& bucket = bucket_at(begin + entry.bucket * bucket_bytes);
    const unsigned cell = filled[entry.bucket]++;
    bucket.set_tag(cell, entry.tag);
    bucket.payload(cell) = entry.payload;
  }
  segment_info_[segment].occupied.store(static_cast<std::int32_t>(count), std::memory_order_relaxed);
  publish(segment, segment_info_[segment].shape.page(), buckets);
}

template <class Payload>
void Cells<Payload>::publish(std::uint32_t segment, std::uint64_t page, std::uint32_t buckets) noexcept {
  Segment& info = segment_info_[segment];
  info.shape = Shape(segment, page, buckets - (reach - 1));
  directory_.point(info.prefix, info.depth, info.shape);
}

// Rebuilds at the same size, to shorten chains.
template <class Payload>
bool Cells<Payload>::tidy(std::uint32_t segment, std::uint32_t buckets) noexcept {
  Gathered live;
  if (!gather(segment, buckets, live) || !plan(live.entries.get(), live.count, buckets)) return false;
  rebuild(segment, live.entries.get(), live.count, buckets);
  return true;
}

// Grows by about 1/`parts_to_grow_by`, or splits a segment of maximum size. `buckets` is the current size.
template <class Payload>
bool Cells<Payload>::grow(std::uint32_t segment, std::uint32_t& buckets) noexcept {
  Gathered live;
  if (!gather(segment, buckets, live)) return false;
  const std::uint32_t step =
      std::max(page_buckets, (buckets / parts_to_grow_by + page_buckets / 2) / page_buckets * page_buckets);
  std::uint32_t larger = buckets + step;
  if (larger > max_buckets || !plan_smallest(live.entries.get(), live.count, larger)) {
    return split(segment, live, buckets);
  }
  if (!budget_.take(std::size_t{larger - buckets} * bucket_bytes)) {
    larger = buckets + page_buckets;
    if (!plan(live.entries.get(), live.count, larger) || !budget_.take(Region::page)) return false;
  }
  lock_buckets(segment, buckets, larger);
  rebuild(segment, live.entries.get(), live.count, larger);
  buckets = larger;
  return true;
}

// Moves the keys whose next bit is set to a new segment.
template <class Payload>
bool Cells<Payload>::split(std::uint32_t segment, Gathered& live, std::uint32_t& buckets) noexcept {
  const unsigned depth = segment_info_[segment].depth;
  if (depth == directory_bits_) return false;
  const std::uint64_t next_bit = top_bit >> depth;
  Entry* const begin = live.entries.get();
  Entry* const end = begin + live.count;
  Entry* const middle =
      std::stable_partition(begin, end, [&](const Entry& entry) { return (entry.tag & next_bit) == 0; });
  const auto staying = static_cast<std::uint32_t>(middle - begin);
  const auto moving = static_cast<std::uint32_t>(end - middle);
  const auto roomy = [](std::uint32_t entries) {
    const std::uint32_t not_yet_crowded = entries * 7 / 5 / bucket_cells + reach;
    return std::min(max_buckets, (not_yet_crowded + page_buckets - 1) / page_buckets * page_buckets);
  };
  std::uint32_t staying_buckets = roomy(staying);
  std::uint32_t moving_buckets = roomy(moving);
  if (!plan_smallest(begin, staying, staying_buckets) || !plan_smallest(middle, moving, moving_buckets)) {
    return false;
  }
  const std::size_t after = std::size_t{staying_buckets + moving_buckets} * bucket_bytes + segment_shape_bytes;
  const std::size_t before = std::size_t{buckets} * bucket_bytes;
  if (after > before && !budget_.take(after - before)) return false;
  if (after < before) budget_.give(before - after);

  const std::uint32_t sibling = segments_++;
  Segment& info = segment_info_[sibling];
  info.prefix = segment_info_[segment].prefix | next_bit;
  info.stuck_at.store(core::never, std::memory_order_relaxed);
  info.shape = Shape(sibling, std::uint64_t{sibling} * max_buckets / page_buckets, 0);
  segment_info_[segment].depth = info.depth = depth + 1;
  lock_buckets(sibling, 0, moving_buckets);
  rebuild(sibling, middle, moving, moving_buckets);
  if (staying_buckets > buckets) lock_buckets(segment, buckets, staying_buckets);
  rebuild(segment, begin, staying, staying_buckets);
  unlock_buckets(sibling, moving_buckets);
  if (staying_buckets < buckets) {
    // No other thread holds a lock there, so the lock bits may disappear with the pages.
    Region::release(segment_begin(segment) + std::size_t{staying_buckets} * bucket_bytes,
                    std::size_t{buckets - staying_buckets} * bucket_bytes);
  }
  buckets = staying_buckets;
  return true;
}

template <class Payload>
template <class Visit>
void Cells<Payload>::for_each_in(std::uint32_t segment, std::int64_t now, Visit& visit) {
  struct Locks {
    Cells& cells;
    std::uint32_t segment, buckets;
    ~Locks() { cells.unlock_buckets(segment, buckets); }
  };
  const std::uint32_t buckets = segment_info_[segment].shape.homes() + reach - 1;
  lock_buckets(segment, 0, buckets);
  const Locks locks{*this, segment, buckets};
  // Visits the buckets in large strides, so that a reader that inserts the cells into another table in this order fills
  // it evenly.
  constexpr std::uint32_t leap = 1259;
  static_assert(leap % 2 == 1 && leap < max_buckets, "coprime to any number of buckets, about 0.618 of the most");
  for (std::uint32_t i = 0; i < buckets; ++i) {
    Bucket<Payload>& bucket = bucket_at(segment_begin(segment) + std::size_t{i * leap % buckets} * bucket_bytes);
    for (unsigned cell = 0; cell < bucket_cells; ++cell) {
      if (bucket.tag(cell) == 0 || bucket.payload(cell).dead(now)) continue;
      visit(KeyHash{bucket.tag(cell) | (segment_info_[segment].prefix & top_bit)}, bucket.payload(cell));
    }
  }
}

template <class Payload>
template <class Visit, class GoOn>
void Cells<Payload>::for_each(std::int64_t now, Visit visit, GoOn go_on) {
  for (std::uint32_t segment = 0;; ++segment) {
    {
      const std::lock_guard guard(shape_mutex_);
      if (segment >= segments_ || segment_info_ == nullptr) return;
      for_each_in(segment, now, visit);
    }
    if (!go_on()) return;
  }
}

template <class Payload>
std::uint64_t Cells<Payload>::estimate_live(std::int64_t now) noexcept {
  constexpr std::uint32_t max_probed = 16;
  const std::lock_guard guard(shape_mutex_);
  std::uint64_t homes = 0;
  for (std::uint32_t segment = 0; segment < segments_; ++segment) homes += segment_info_[segment].shape.homes();
  const std::uint32_t looked_at = std::min(segments_, max_probed);
  std::uint64_t live = 0;
  std::uint64_t seen_homes = 0;
  const auto count = [&](KeyHash, Payload&) { ++live; };
  for (std::uint32_t i = 0; i < looked_at; ++i) {
    const auto segment = static_cast<std::uint32_t>(std::uint64_t{i} * segments_ / looked_at);
    for_each_in(segment, now, count);
    seen_homes += segment_info_[segment].shape.homes();
  }
  return live * homes / seen_homes;
}

}  // namespace weir::table
