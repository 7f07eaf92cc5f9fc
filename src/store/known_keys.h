// Which keys this process has sent to a shared store, and how many new ones a limit may send in a second: a client that
// makes up keys must not fill the store.
//
// 1. A key that was sent lately is known. `capacity` keys at least are remembered, twice as many at most, in a filter
// of
//    two generations with 16 bits for each key; the memory is the same for any number of limits.
// 2. A filter may take a key that is new for a known one (about one in 200): that key goes to the store without being
//    counted as new. It never does the reverse to a key that is remembered.
// 3. A key that is new beyond the bound is not sent, and not remembered: it shares one of `overflow_keys` keys of its
//    limit, by its hash, as in a table without room. So nobody goes unlimited, and a flood is limited as a whole.
//
// A key that was forgotten counts as new again. Unless a flood uses up the bound that changes nothing; if one does, the
// key shares a state, which the flood has used up, until it is admitted anew.
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
  // A key has four bits in one block, which is a line of the cache.
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
  std::mutex mutex_;  // of forgetting
};

// The bound of one limit.
class NewKeyBound {
 public:
  static constexpr std::uint64_t overflow_keys = 256;

  // `limit` names it.
  NewKeyBound(std::shared_ptr<KnownKeys> known, std::string_view limit, std::uint64_t max_per_second);

  // Whether a consumer is counted by a key of its own: known, or new within the bound; then it is known.
  [[nodiscard]] bool admit(table::KeyHash consumer, Instant now) noexcept;
  // What admit() would say.
  [[nodiscard]] bool would_admit(table::KeyHash consumer, Instant now) const noexcept;
  // What stands for the consumer of a key that is not admitted: no consumer's own text.
  void write_overflow(table::KeyHash consumer, std::string& text) const;

  [[nodiscard]] std::uint64_t max_per_second() const noexcept { return max_per_second_; }
  // Decisions that were made on shared keys, so far.
  [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint64_t name_of(table::KeyHash consumer) const noexcept;

  const std::shared_ptr<KnownKeys> known_;
  const std::string limit_;
  const std::uint64_t salt_;
  const std::uint64_t max_per_second_;
  std::atomic<std::uint64_t> taken_{0};  // the second in the upper half, how many in the lower
  std::atomic<std::uint64_t> beyond_{0};
};

}  // namespace weir::store
