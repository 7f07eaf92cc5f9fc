// Counts every call of operator new in a test program, and can make one fail. It replaces the operators, so only one
// file of a program may include it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> allocations{0};

// Makes one allocation fail, after this many have succeeded. Applies to one thread.
constexpr std::uint64_t no_failure = ~std::uint64_t{0};
[[maybe_unused]] std::atomic<std::uint64_t> fail_in{no_failure};
// True if the failed allocation was a non-throwing one: std::stable_sort, for example, then works without its buffer.
[[maybe_unused]] std::atomic<bool> failed_without_throwing{false};

bool counts_down_to_failure() noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t left = fail_in.load(std::memory_order_relaxed);
  if (left == no_failure) return false;
  fail_in.store(left == 0 ? no_failure : left - 1, std::memory_order_relaxed);
  return left == 0;
}

void* counted(std::size_t bytes) noexcept {
  return counts_down_to_failure() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
}  // namespace

// The other forms call one of these. When g++ inlines one of a pair, it mistakes free for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t bytes) {
  if (void* memory = counted(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* const memory = counted(bytes);
  if (memory == nullptr) failed_without_throwing = true;
  return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (counts_down_to_failure()) throw std::bad_alloc();
  const auto align = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
