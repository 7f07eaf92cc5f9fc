// The memory of a table: the bytes that it may use, and the address space that it lies in.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "weir/result.h"

namespace weir::table {

// The bytes that a table may use, and does. Callable from any thread.
class Budget {
 public:
  explicit Budget(std::size_t total) noexcept : most_(total), total_(total) {}

  [[nodiscard]] std::size_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has(std::size_t bytes) const noexcept { return used() + bytes <= total(); }

  // Takes `bytes`, or nothing if there are not that many left.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used + bytes > total()) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }

  // For what cannot be refused: a log that a raised limit made longer.
  void take_regardless(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }

  // A new total, at most the first one. What is used beyond it stays: live states are never evicted.
  void resize(std::size_t total) noexcept { total_.store(std::min(total, most_), std::memory_order_relaxed); }

  void give(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> total_;
  std::atomic<std::size_t> used_{0};
};

// A stretch of address space that reads as zero and takes memory only where it is written.
class Region {
 public:
  static constexpr std::size_t page = 4096;

  static Result<Region> reserve(std::size_t bytes);

  Region() = default;
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  ~Region();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Gives the memory of whole pages back; they read as zero again.
  static void release(std::byte* from, std::size_t bytes) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weir::table
