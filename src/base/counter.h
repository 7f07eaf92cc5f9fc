// Numbers that one thread writes and any thread reads. A write is a plain load and store: no locked instruction.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::base {

// A number that only grows.
class Counter {
 public:
  void raise(std::uint64_t by = 1) noexcept { value_.store(value() + by, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// A number that holds the last value set.
class Gauge {
 public:
  void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

}  // namespace weir::base
