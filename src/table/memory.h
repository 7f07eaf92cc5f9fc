// The memory of a table: its budget of bytes, and its address space.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "weir/result.h"

namespace weir::table {

// The bytes that a table may use, and those it uses. Callable from any thread.
class Budget {
 public:
  explicit Budget(std::size_t total) noexcept : max_total_(total), total_(total) {}

  [[nodiscard]] std::size_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has(std::size_t bytes) const noexcept { return used() + bytes <= total(); }

  // Takes `bytes`, or nothing if fewer are left.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used + bytes > total()) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }

  // For memory that cannot be refused: a log that became longer when its limit was raised.
  void take_regardless(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }

  // Sets a new total, at most the initial one. Usage beyond it stays: live states are never evicted.
  void resize(std::size_t total) noexcept { total_.store(std::min(total, max_total_), std::memory_order_relaxed); }

  void give(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::size_t max_total_;
  std::atomic<std::size_t> total_;
  std::atomic<std::size_t> used_{0};
};

// A range of address space that reads as zero and uses memory only where it is written.
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

  // Releases the memory of whole pages; they read as zero again.
  static void release(std::byte* from, std::size_t bytes) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weir::table
