// Key hash -> segment, in one load. Readable by any thread; written by one at a time.
//
// Level d has an entry for each value of the upper d bits of a hash. A level holds as many bits as the deepest
// segment needs, so the entries in use stay in the nearest caches. When a segment needs more, the next level is
// written and becomes the one in use; who still reads the level before finds out when it looks again, with a
// bucket locked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "table/bucket.h"

namespace weir::table {

// Where a segment lies and how large it is: one word, read and replaced as a whole.
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

class Directory {
 public:
  // All levels up to `most_bits`, in memory that reads as zero. It begins with level 1.
  static constexpr std::size_t bytes_for(unsigned most_bits) noexcept { return sizeof(Shape) << (most_bits + 1); }
  void lie_at(std::byte* memory) noexcept { entries_ = reinterpret_cast<std::atomic<Shape>*>(memory); }

  [[nodiscard]] Shape at(std::uint64_t hash) const noexcept {
    const unsigned shift = shift_.load(std::memory_order_acquire);
    return entries_[((hash >> 1) | top_bit) >> shift].load(std::memory_order_acquire);
  }

  // For all hashes that begin with the upper `depth` bits of `prefix`.
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
