// A cache line of cells under one lock bit.
//
// Each cell is a tag (63 bits of its key's hash; 0 = empty) and a payload. Two spare bits serve the bucket:
// on top of the first tag its lock, on top of the second whether keys that belong here went on to the next
// bucket. All but the lock bit is only read or written by who holds the lock.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

namespace weir::table {

// Tells the core that this is a spin.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

// The lock word begins every bucket, whatever its payload.
class BucketLock {
 public:
  void lock() noexcept {
    while ((word_.fetch_or(top_bit, std::memory_order_acquire) & top_bit) != 0) wait();
  }

  void unlock() noexcept { word_.store(word_.load(std::memory_order_relaxed) & ~top_bit, std::memory_order_release); }

 protected:
  [[nodiscard]] std::uint64_t first_tag() const noexcept { return word_.load(std::memory_order_relaxed) & ~top_bit; }
  void set_first_tag(std::uint64_t tag) noexcept { word_.store(tag | top_bit, std::memory_order_relaxed); }

 private:
  // A holder only does arithmetic, so the wait is short unless the holder lost its core.
  void wait() const noexcept {
    for (int spins = 0; (word_.load(std::memory_order_relaxed) & top_bit) != 0; ++spins) {
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

  // The cell with this tag; `cells` if there is none. Without branches, which could not be predicted.
  [[nodiscard]] unsigned find(std::uint64_t tag) const noexcept {
    const auto matches = [&]<std::size_t... Cell>(std::index_sequence<Cell...>) {
      return ((static_cast<unsigned>(this->tag(Cell) == tag) << Cell) | ...);
    };
    return static_cast<unsigned>(std::countr_zero(matches(std::make_index_sequence<cells>{}) | (1U << cells)));
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

  [[nodiscard]] bool goes_on() const noexcept { return (tags_[0] & top_bit) != 0; }
  void set_goes_on() noexcept { tags_[0] |= top_bit; }

  [[nodiscard]] Payload& payload(unsigned cell) noexcept { return payloads_[cell]; }

  // Empties the bucket, which stays locked.
  void clear() noexcept {
    set_first_tag(0);
    for (auto& tag : tags_) tag = 0;
    for (auto& payload : payloads_) payload = Payload{};
  }

 private:
  std::uint64_t tags_[cells - 1];
  Payload payloads_[cells];
};

}  // namespace weir::table
