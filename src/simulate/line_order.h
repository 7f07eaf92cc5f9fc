// Sorts the entries of a log by time, within a bounded lookahead.
//
//   order.push(entry);                                            // copies it
//   while (const LogEntry* next = order.pop()) replay(*next);
//   ...
//   order.finish();                                               // and pop until null
//
//   1. An entry leaves once the newest time pushed is `span` past it (one second more if seconds are spread). Entries
//      that are out of order by at most `span` therefore leave as after a stable sort by time: equal times keep the
//      order of the log.
//   2. An entry that is earlier than one that has left is late. It is counted and gets the time of the last one that
//      left, so that time does not run backwards. (One line stamped far in the future makes all later ones late, as the
//      count shows.)
//   3. At most `max_entries` and `max_bytes` wait. Beyond that the earliest entry leaves early and is counted: the span
//      is then shorter than requested, and the order is correct unless a late entry follows.
//
// Common and combined logs have times in whole seconds, and a limit with a burst depends on where in the second a
// request falls. Entries with finer times are not moved.
//   spread (default)  the n entries of a second, in the order of the log, are 1/n second apart. This is realistic for a
//                     busy log; on a quiet one it stretches bursts and may understate denials.
//   stacked           all are at the start of the second: an upper bound of what a limit denies, far
//                     too high for limits of a few requests per second.
//
// Entries in order cost one copy of their texts and a queue element; only those out of order go through a heap. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/object_pool.h"
#include "simulate/log_entry.h"

namespace weir::simulate {

// Copies of entries and their texts in reusable chunks of memory: a log that is nearly in order frees chunks nearly in
// the order in which it filled them. A chunk is free when it has no live entries.
class EntryStore {
 public:
  struct Chunk {
    explicit Chunk(std::size_t size) : memory(std::make_unique_for_overwrite<std::byte[]>(size)), capacity(size) {}

    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity;
    std::size_t used = 0;
    std::size_t live = 0;  // entries that are not yet released
  };

  struct Stored {
    LogEntry* entry = nullptr;
    Chunk* chunk = nullptr;
  };

  // Copies the entry and its texts.
  [[nodiscard]] Stored add(const LogEntry& entry);

  // `stored` is from add(), and must be released once.
  void release(Stored stored) noexcept;

  // The capacity of all chunks with live entries.
  [[nodiscard]] std::size_t bytes_in_use() const noexcept { return bytes_in_use_; }

 private:
  [[nodiscard]] Chunk* chunk_with_room(std::size_t size);
  void retire(Chunk* chunk) noexcept;

  base::ObjectPool<Chunk> chunks_;             // chunks of chunk_size
  std::vector<std::unique_ptr<Chunk>> large_;  // each for one entry larger than chunk_size
  Chunk* filling_ = nullptr;
  std::size_t bytes_in_use_ = 0;
};

enum class WholeSeconds : std::uint8_t { spread, stacked };

struct OrderBounds {
  Duration span = std::chrono::seconds{5};  // a negative span counts as zero
  std::size_t max_entries = std::size_t{1} << 18;
  std::size_t max_bytes = std::size_t{256} << 20;
};

class LineOrder {
 public:
  explicit LineOrder(OrderBounds bounds = {}, WholeSeconds seconds = WholeSeconds::spread) noexcept;

  void push(const LogEntry& entry);

  // The number of popped entries that stay valid, for callers that process batches.
  static constexpr std::size_t max_lent = 32;

  // Returns the next entry that may leave; null if there is none yet. Valid until `max_lent` others have been popped.
  [[nodiscard]] const LogEntry* pop();

  // Ends the input: all waiting entries may leave.
  void finish() noexcept { finished_ = true; }

  [[nodiscard]] std::size_t waiting() const noexcept { return run_.size() - run_begin_ + strays_.size(); }
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }
  [[nodiscard]] std::uint64_t out_of_order() const noexcept { return out_of_order_; }  // includes late entries
  [[nodiscard]] std::uint64_t left_early() const noexcept { return left_early_; }

 private:
  struct Waiting {
    Instant at;
    std::uint64_t number = 0;  // its position in the log
    EntryStore::Stored stored;

    [[nodiscard]] bool before(const Waiting& other) const noexcept {
      return at != other.at ? at < other.at : number < other.number;
    }
  };

  [[nodiscard]] static bool later(const Waiting& a, const Waiting& b) noexcept { return b.before(a); }
  [[nodiscard]] bool stray_is_next() const noexcept;
  [[nodiscard]] bool may_leave(const Waiting& next);
  [[nodiscard]] Waiting take(bool stray);
  [[nodiscard]] std::size_t count_waiting_at(Instant at) const noexcept;
  [[nodiscard]] Instant time_of(const Waiting& next);

  OrderBounds bounds_;
  WholeSeconds seconds_;
  Duration delay_;
  EntryStore store_;
  std::array<EntryStore::Stored, max_lent> lent_{};  // a ring of the entries popped last
  std::size_t next_lent_ = 0;

  std::vector<Waiting> run_;  // entries pushed in order, from run_begin_ on
  std::size_t run_begin_ = 0;
  std::vector<Waiting> strays_;  // the others, a heap with the earliest in front

  Instant newest_ = Instant::min();      // the latest stamp pushed
  Instant last_stamp_ = Instant::min();  // the stamp of the last popped entry
  Instant last_time_ = Instant::min();   // the time assigned to this entry
  Instant second_ = Instant::min();      // the second whose entries are being spread
  std::size_t second_size_ = 0;          // the number of its entries
  std::size_t second_left_ = 0;          // how many of them have left
  std::uint64_t pushed_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t left_early_ = 0;
  bool finished_ = false;
};

}  // namespace weir::simulate
