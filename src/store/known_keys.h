// The keys that this process has sent to a shared store, and the bound on new keys per second for each limit: a client
// that invents keys must not fill the store.
//
// 1. A recently sent key is known. At least `capacity` and at most twice as many keys are remembered, in a filter of
//    two generations with 16 bits per key; the memory does not depend on the number of limits.
// 2. The filter can take a new key for a known one (about one in 200), which is then sent without being counted as new.
//    It never takes a remembered key for a new one.
// 3. A new key beyond the bound is neither sent nor remembered: it shares one of the `overflow_keys` of its limit,
//    chosen by its hash, as in a full table. No consumer bypasses the limit, and a flood is limited as a whole.
//
// A forgotten key counts as new again. That matters only during a flood that exhausts the bound: then the key shares an
// overflow state, which the flood has exhausted, until it is admitted again.
//
// Callable from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "table/cells.h"
#include "weir/time.h"

namespace weir::store {

class KnownKeys {
 public:
  static constexpr std::size_t default_capacity = std::size_t{1} << 22;  // 16 MiB

  explicit KnownKeys(std::size_t capacity = default_capacity);

  [[nodiscard]] bool knows(std::uint64_t key) const noexcept;
  void remember(std::uint64_t key) noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return 2 * words_ * sizeof(std::uint64_t); }

 private:
  // A key has four bits in one block of one cache line.
  static constexpr std::size_t words_of_block = 8;
  static constexpr std::size_t bits_of_key = 16;

  struct Generation {
    std::unique_ptr<std::atomic<std::uint64_t>[]> words;
    std::atomic<std::size_t> keys{0};
  };
  struct Bits {
    std::size_t first_word;
    std::array<std::uint32_t, 4> in_block;
  };

  [[nodiscard]] Bits bits_of(std::uint64_t key) const noexcept;
  [[nodiscard]] static bool has(const Generation& generation, const Bits& bits) noexcept;
  void forget_older(std::size_t current) noexcept;

  const std::size_t capacity_;
  const std::size_t words_;
  std::array<Generation, 2> generations_;
  std::atomic<std::size_t> current_{0};
  std::mutex mutex_;  // serializes forget_older()
};

// The bound on new keys of one limit.
class NewKeyBound {
 public:
  static constexpr std::uint64_t overflow_keys = 256;

  NewKeyBound(std::shared_ptr<KnownKeys> known, std::string_view limit, std::uint64_t max_per_second);

  // Returns true if the consumer has its own key: a known one, or a new one within the bound, which becomes known.
  [[nodiscard]] bool admit(table::KeyHash consumer, Instant now) noexcept;
  // Like admit(), but neither remembers nor counts the key.
  [[nodiscard]] bool would_admit(table::KeyHash consumer, Instant now) const noexcept;
  // Writes the text that stands for a consumer that was not admitted. It equals no consumer's own text.
  void write_overflow(table::KeyHash consumer, std::string& text) const;

  [[nodiscard]] std::uint64_t max_per_second() const noexcept { return max_per_second_; }
  // The number of decisions on shared keys.
  [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint64_t name_of(table::KeyHash consumer) const noexcept;

  const std::shared_ptr<KnownKeys> known_;
  const std::string limit_;
  const std::uint64_t salt_;
  const std::uint64_t max_per_second_;
  std::atomic<std::uint64_t> taken_{0};  // the second in the upper half, the count in the lower
  std::atomic<std::uint64_t> beyond_{0};
};

}  // namespace weir::store
