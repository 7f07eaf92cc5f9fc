// Puts the entries of a log in the order of their times, as far as a bounded look ahead allows.
//
//   order.push(entry);                                            // copies it
//   while (const LogEntry* next = order.pop()) replay(*next);
//   ...
//   order.finish();                                               // and pop until null
//
// The rules:
//   1. An entry leaves once the newest time pushed is `span` past it (a second more where seconds are spread).
//      So entries that are out of order by at most `span` leave exactly as a stable sort by time would give them:
//      equal times keep the log's order.
//   2. An entry that is earlier than one that has left is late: it is counted, and leaves at the time of that
//      one, the nearest that keeps time from running backwards. (One line stamped far in the future makes all
//      that follow late; the count shows it.)
//   3. At most `max_entries` and `max_bytes` wait. Beyond that the earliest leaves before its time, counted;
//      the span is then shorter than asked for, the order still true unless a late one shows up.
//
// Whole seconds. Common and combined logs stamp to the second, and a limit with a burst is sensitive to
// where in the second a request falls:
//   spread (default)  the n entries of a second, in the log's order, come 1/n second apart. On a busy log this is
//                     close to what happened; on a quiet one a burst is drawn out, so denials may be understated.
//   stacked           all come at the second's start: an upper bound of what a limit denies, and far over it for
//                     limits of a few per second.
// Entries with finer times are not moved.
//
// Entries in order cost one copy of their texts and a place in a queue; only those out of order go through a heap.
// One thread.
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

// Entries that are kept for a while, and their texts, in chunks of memory that are used again: a log that is nearly in
// order frees them nearly in the order in which it filled them. Each chunk counts the entries in it that are still
// kept; at zero it is free.
class EntryStore {
 public:
  struct Chunk {
    explicit Chunk(std::size_t size) : memory(std::make_unique_for_overwrite<std::byte[]>(size)), capacity(size) {}

    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity;
    std::size_t used = 0;
    std::size_t kept = 0;
  };

  struct Kept {
    LogEntry* entry = nullptr;
    Chunk* chunk = nullptr;
  };

  // A copy with texts of its own.
  [[nodiscard]] Kept keep(const LogEntry& entry);

  // `kept` is from keep(), and is given back once.
  void release(Kept kept) noexcept;

  // Of all chunks with an entry in them.
  [[nodiscard]] std::size_t bytes_in_use() const noexcept { return bytes_in_use_; }

 private:
  [[nodiscard]] Chunk* chunk_with_room(std::size_t size);
  void retire(Chunk* chunk) noexcept;

  base::ObjectPool<Chunk> chunks_;             // of one size
  std::vector<std::unique_ptr<Chunk>> large_;  // each for an entry that does not fit into one of those
  Chunk* filling_ = nullptr;
  std::size_t bytes_in_use_ = 0;
};

enum class WholeSeconds : std::uint8_t { spread, stacked };

struct OrderBounds {
  Duration span = std::chrono::seconds{5};  // negative counts as zero
  std::size_t max_entries = std::size_t{1} << 18;
  std::size_t max_bytes = std::size_t{256} << 20;
};

class LineOrder {
 public:
  explicit LineOrder(OrderBounds bounds = {}, WholeSeconds seconds = WholeSeconds::spread) noexcept;

  void push(const LogEntry& entry);

  // How many entries that have left are kept, for callers that work on several at once.
  static constexpr std::size_t max_lent = 32;

  // The next entry that may leave; null if there is none yet. It holds until `max_lent` others have left.
  [[nodiscard]] const LogEntry* pop();

  // Nothing more is pushed: all that wait may leave.
  void finish() noexcept { finished_ = true; }

  [[nodiscard]] std::size_t waiting() const noexcept { return run_.size() - run_begin_ + strays_.size(); }
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }
  [[nodiscard]] std::uint64_t out_of_order() const noexcept { return out_of_order_; }  // late ones are among them
  [[nodiscard]] std::uint64_t left_early() const noexcept { return left_early_; }

 private:
  struct Waiting {
    Instant at;
    std::uint64_t number = 0;  // its place in the log
    EntryStore::Kept kept;

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
  Duration hold_;
  EntryStore store_;
  std::array<EntryStore::Kept, max_lent> lent_{};  // what pop() gave last, in turns
  std::size_t next_lent_ = 0;

  std::vector<Waiting> run_;  // those that came in order, from run_begin_ on
  std::size_t run_begin_ = 0;
  std::vector<Waiting> strays_;  // the others, a heap: the earliest in front

  Instant newest_ = Instant::min();      // stamp of any pushed
  Instant last_stamp_ = Instant::min();  // stamp of the one that left last
  Instant last_time_ = Instant::min();   // and the time that it was given
  Instant second_ = Instant::min();      // the second that is being spread,
  std::size_t second_size_ = 0;          // over how many entries,
  std::size_t second_left_ = 0;          // and how many of them have left
  std::uint64_t pushed_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t left_early_ = 0;
  bool finished_ = false;
};

}  // namespace weir::simulate
