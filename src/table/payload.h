// What a cell of the table holds beside the hash of its key: a state, packed.
//
// A payload knows by itself whether it is dead at an instant, that is, as good as never seen; a dead cell is
// free space. A payload of zero bytes is dead.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/instant.h"
#include "core/log_ring.h"
#include "core/select.h"
#include "weir/limit.h"

namespace weir::table {

// 8 bytes: a time in 51 bits, which wrap every 71 years, and 13 bits beside it. The time is read as the one
// between `now` - 51 and `now` + 20 years, the longest that a state can reach ahead (a fill and a debt).
class NarrowPayload {
 public:
  static constexpr unsigned small_bits = 13;
  static constexpr std::uint64_t largest_small = (std::uint64_t{1} << small_bits) - 1;

  NarrowPayload() = default;
  NarrowPayload(std::int64_t time, std::uint64_t small) noexcept
      : word_((static_cast<std::uint64_t>(time) << small_bits) | small) {}

  // How far the time lies ahead of `now`, above the bits beside it. Zero if dead.
  [[nodiscard]] std::int64_t word_ahead(std::int64_t now) const noexcept {
    const std::uint64_t word = word_ - (static_cast<std::uint64_t>(now) << small_bits);
    const bool live = word < ((farthest_ahead + 1) << small_bits) && word_ != 0;
    return live ? static_cast<std::int64_t>(word) : 0;
  }
  // Without a branch.
  void set_word_ahead_if(bool condition, std::int64_t word, std::int64_t now) noexcept {
    const std::uint64_t moved = static_cast<std::uint64_t>(word) + (static_cast<std::uint64_t>(now) << small_bits);
    word_ = static_cast<std::uint64_t>(
        core::either(condition, static_cast<std::int64_t>(moved), static_cast<std::int64_t>(word_)));
  }

  [[nodiscard]] std::int64_t time(std::int64_t now) const noexcept { return now + ahead(now); }
  [[nodiscard]] std::uint64_t small() const noexcept { return word_ & largest_small; }
  [[nodiscard]] bool dead(std::int64_t now) const noexcept {
    const std::int64_t ahead = this->ahead(now);
    return word_ == 0 || ahead < 0 || (ahead == 0 && small() == 0);
  }

 private:
  static constexpr std::uint64_t time_mask = (std::uint64_t{1} << 51) - 1;
  static constexpr std::uint64_t farthest_ahead = static_cast<std::uint64_t>(2 * Limit::longest.count());

  [[nodiscard]] std::int64_t ahead(std::int64_t now) const noexcept {
    const std::uint64_t distance = ((word_ >> small_bits) - static_cast<std::uint64_t>(now)) & time_mask;
    return distance <= farthest_ahead ? static_cast<std::int64_t>(distance)
                                      : static_cast<std::int64_t>(distance | ~time_mask);
  }

  std::uint64_t word_;
};

// 24 bytes: a full time and two full words.
struct WidePayload {
  std::int64_t time;
  std::uint64_t first;
  std::uint64_t second;

  [[nodiscard]] bool dead(std::int64_t now) const noexcept {
    return time < now || (time == now && first == 0) || (time == 0 && first == 0 && second == 0);
  }
};

// 24 bytes and a ring on the heap, which the cell owns.
struct LogPayload {
  std::int64_t forget_at;
  core::LogRing* ring;
  std::uint64_t unused;

  [[nodiscard]] bool dead(std::int64_t now) const noexcept { return ring == nullptr || forget_at <= now; }
};

}  // namespace weir::table
