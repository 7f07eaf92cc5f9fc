// The layout of cells: buckets, and the directory that leads to them.
//
// A bucket is a cache line of cells under one lock bit. Each cell is a tag (63 bits of its key's hash; 0 = empty) and a
// payload. The top bit of the first tag is the bucket's lock; that of the second is set if keys of this bucket continue
// in the next one. Everything but the lock bit is read and written only by the holder of the lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

namespace weir::table {

// Tells the CPU that this is a spin loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

// The lock word is the first word of every bucket.
class BucketLock {
 public:
  // Returns the first tag, to be passed to unlock if it is unchanged. A plain load comes first, because the CPU can
  // speculate past it and overlap the cache miss of the next key with this one.
  std::uint64_t lock() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & top_bit) != 0 || !word_.compare_exchange_weak(word, word | top_bit, std::memory_order_acquire,
                                                                 std::memory_order_relaxed)) [[unlikely]] {
      word = wait();
    }
    return word;
  }

  // Fails if another thread holds the lock.
  [[nodiscard]] bool try_lock(std::uint64_t& first_tag) noexcept {
    first_tag = word_.load(std::memory_order_relaxed);
    return (first_tag & top_bit) == 0 &&
           word_.compare_exchange_strong(first_tag, first_tag | top_bit, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  void unlock(std::uint64_t first_tag) noexcept { word_.store(first_tag, std::memory_order_release); }
  void unlock() noexcept { unlock(first_tag()); }

 protected:
  [[nodiscard]] std::uint64_t first_tag() const noexcept { return word_.load(std::memory_order_relaxed) & ~top_bit; }
  void set_first_tag(std::uint64_t tag) noexcept { word_.store(tag | top_bit, std::memory_order_relaxed); }

 private:
  // The holder of a lock mostly does arithmetic, so the wait is short unless it grows the table or was preempted.
  [[gnu::noinline]] std::uint64_t wait() const noexcept {
    for (int spins = 0;; ++spins) {
      const std::uint64_t word = word_.load(std::memory_order_relaxed);
      if ((word & top_bit) == 0) return word;
      if (spins < 100) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::atomic<std::uint64_t> word_;
};

template <class Payload>
class alignas(64) Bucket : public BucketLock {
 public:
  static constexpr unsigned cells = 64 / (8 + sizeof(Payload));

  // The cell with this tag; `cells` if there is none.
  [[nodiscard]] unsigned find(std::uint64_t tag) const noexcept { return find(tag, first_tag()); }

  // Like find(tag), for a caller that already knows the first tag. Branch-free, because the position of the cell is
  // unpredictable.
  [[nodiscard]] unsigned find(std::uint64_t tag, std::uint64_t first) const noexcept {
    std::uint64_t found = cells;
    for (unsigned cell = cells - 1; cell >= 2; --cell) replace_if_equal(found, cell, tags_[cell - 1], tag);
    replace_if_equal(found, 1, tags_[0] & ~top_bit, tag);
    replace_if_equal(found, 0, first, tag);
    return static_cast<unsigned>(found);
  }

  [[nodiscard]] std::uint64_t tag(unsigned cell) const noexcept {
    return cell == 0 ? first_tag() : tags_[cell - 1] & ~top_bit;
  }

  void set_tag(unsigned cell, std::uint64_t tag) noexcept {
    if (cell == 0) {
      set_first_tag(tag);
    } else {
      tags_[cell - 1] = (tags_[cell - 1] & top_bit) | tag;
    }
  }

  [[nodiscard]] bool continues() const noexcept { return (tags_[0] & top_bit) != 0; }
  void set_continues() noexcept { tags_[0] |= top_bit; }

  [[nodiscard]] Payload& payload(unsigned cell) noexcept { return payloads_[cell]; }

  // Empties the bucket, which stays locked.
  void clear() noexcept {
    set_first_tag(0);
    for (auto& tag : tags_) tag = 0;
    for (auto& payload : payloads_) payload = Payload{};
  }

 private:
  // Written in assembly because the compiler would emit a branch.
  [[gnu::always_inline]] static void replace_if_equal(std::uint64_t& found, std::uint64_t by, std::uint64_t a,
                                                      std::uint64_t b) noexcept {
#if defined(__x86_64__)
    asm("cmpq %[b], %[a]\n\tcmoveq %[by], %[found]"
        : [found] "+r"(found)
        : [by] "r"(by), [a] "rm"(a), [b] "r"(b)
        : "cc");
#else
    found = a == b ? by : found;
#endif
  }

  std::uint64_t tags_[cells - 1];
  Payload payloads_[cells];
};

// Position and size of a segment in one word, read and replaced atomically.
class Shape {
 public:
  static constexpr unsigned homes_bits = 12;
  static constexpr unsigned segment_bits = 24;
  static constexpr unsigned page_bits = 64 - segment_bits - homes_bits;

  Shape() = default;
  Shape(std::uint32_t segment, std::uint64_t page, std::uint32_t homes) noexcept
      : word_((((page << segment_bits) | segment) << homes_bits) | homes) {}

  [[nodiscard]] std::uint32_t segment() const noexcept {
    return static_cast<std::uint32_t>(word_ >> homes_bits) & ((1U << segment_bits) - 1);
  }
  [[nodiscard]] std::uint64_t page() const noexcept { return word_ >> (homes_bits + segment_bits); }
  [[nodiscard]] std::uint32_t homes() const noexcept {
    return static_cast<std::uint32_t>(word_) & ((1U << homes_bits) - 1);
  }

  friend bool operator==(Shape, Shape) = default;

 private:
  std::uint64_t word_ = 0;
};

// Maps a key hash to its segment in one load. Any thread reads; one at a time writes.
//
// Level d has an entry for each value of the upper d bits of a hash. A level has as many bits as the deepest segment
// needs, so the entries in use stay in the nearest caches. When a segment needs more, the next level is written and
// becomes the current one; a reader of the previous level notices this when it locks a bucket and verifies the shape.
class Directory {
 public:
  // All levels up to `max_bits`, in zeroed memory. Starts with level 1.
  static constexpr std::size_t bytes_for(unsigned max_bits) noexcept { return sizeof(Shape) << (max_bits + 1); }
  void lie_at(std::byte* memory) noexcept { entries_ = reinterpret_cast<std::atomic<Shape>*>(memory); }

  [[nodiscard]] Shape at(std::uint64_t hash) const noexcept {
    const unsigned shift = shift_.load(std::memory_order_acquire);
    return entries_[((hash >> 1) | top_bit) >> shift].load(std::memory_order_acquire);
  }

  // Points all hashes that start with the upper `depth` bits of `prefix` to `shape`.
  void point(std::uint64_t prefix, unsigned depth, Shape shape) noexcept {
    while (bits() < depth) write_next_level();
    const std::uint64_t first = ((prefix >> 1) | top_bit) >> shift_.load(std::memory_order_relaxed);
    const std::uint64_t count = std::uint64_t{1} << (bits() - depth);
    for (std::uint64_t i = 0; i < count; ++i) entries_[first + i].store(shape, std::memory_order_release);
  }

 private:
  [[nodiscard]] unsigned bits() const noexcept { return 63 - shift_.load(std::memory_order_relaxed); }

  void write_next_level() noexcept {
    const std::uint64_t end = std::uint64_t{2} << bits();
    for (std::uint64_t i = end / 2; i < end; ++i) {
      const Shape shape = entries_[i].load(std::memory_order_relaxed);
      entries_[2 * i].store(shape, std::memory_order_relaxed);
      entries_[2 * i + 1].store(shape, std::memory_order_relaxed);
    }
    shift_.store(63 - bits() - 1, std::memory_order_release);
  }

  std::atomic<unsigned> shift_{62};
  std::atomic<Shape>* entries_ = nullptr;
};

}  // namespace weir::table
