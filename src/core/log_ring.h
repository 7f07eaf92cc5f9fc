// The entries of a sliding window log, oldest first: when, and the running total of costs up to then.
//
// Running totals instead of costs make every question a binary search. They wrap at 2^32, which is harmless:
// what one ring holds is far less. Twelve bytes an entry; the capacity is fixed at creation.
//
// Invariants: times do not decrease; every entry's cost is at least 1; size <= capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace weir::core {

class LogRing {
 public:
  struct Free {
    void operator()(LogRing* ring) const noexcept { ::operator delete(ring); }
  };
  using Handle = std::unique_ptr<LogRing, Free>;

  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t capacity) noexcept {
    return sizeof(LogRing) + std::size_t{capacity} * sizeof(Entry);
  }

  // Empty when there is no memory.
  [[nodiscard]] static Handle create(std::uint32_t capacity) noexcept {
    void* memory = ::operator new(bytes_for(capacity), std::nothrow);
    return Handle{memory == nullptr ? nullptr : new (memory) LogRing(capacity)};
  }

  // The same entries with room for `capacity`, which is at least the size. Empty when there is no memory.
  [[nodiscard]] Handle copy(std::uint32_t capacity) const noexcept {
    Handle ring = create(capacity);
    if (!ring) return ring;
    ring->before_ = before_;
    ring->size_ = size_;
    for (std::uint32_t i = 0; i < size_; ++i) ring->at(i) = at(i);
    return ring;
  }

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t time(std::uint32_t i) const noexcept { return at(i).time(); }
  [[nodiscard]] std::int64_t newest() const noexcept { return time(size_ - 1); }
  [[nodiscard]] std::uint32_t cost(std::uint32_t i) const noexcept { return total_before(i + 1) - total_before(i); }

  // The costs of the entries [from, to) together.
  [[nodiscard]] std::uint32_t cost_between(std::uint32_t from, std::uint32_t to) const noexcept {
    return total_before(to) - total_before(from);
  }

  // The first entry later than `time`; size() if there is none.
  [[nodiscard]] std::uint32_t first_after(std::int64_t time) const noexcept {
    return partition_point(0, [&](std::uint32_t i) { return at(i).time() <= time; });
  }

  // The first entry, `from` or later, with which the costs since `from` reach `cost`.
  [[nodiscard]] std::uint32_t first_reaching(std::uint32_t from, std::uint32_t cost) const noexcept {
    return partition_point(from, [&](std::uint32_t i) { return cost_between(from, i + 1) < cost; });
  }

  void drop_first(std::uint32_t count) noexcept {
    before_ = total_before(count);
    head_ = (head_ + count) % capacity_;
    size_ -= count;
  }

  void append(std::int64_t time, std::uint32_t cost) noexcept {
    const std::uint32_t total = total_before(size_) + cost;
    at(size_++) = Entry(time, total);
  }

  void add_to_newest(std::uint32_t cost) noexcept { at(size_ - 1).total += cost; }

  void move_newest_to(std::int64_t time) noexcept { at(size_ - 1) = Entry(time, at(size_ - 1).total); }

  // Takes `cost` off entry i, and the entry away if nothing of it is left.
  void take(std::uint32_t i, std::uint32_t cost) noexcept {
    const bool all = cost == this->cost(i);
    for (std::uint32_t j = i; j < size_; ++j) at(j).total -= cost;
    if (!all) return;
    for (std::uint32_t j = i + 1; j < size_; ++j) at(j - 1) = at(j);
    --size_;
  }

  void move_all_back_to(std::int64_t latest) noexcept {
    for (std::uint32_t i = first_after(latest); i < size_; ++i) at(i) = Entry(latest, at(i).total);
  }

 private:
  struct Entry {
    Entry(std::int64_t time, std::uint32_t total_with_it) noexcept
        : time_low(static_cast<std::uint32_t>(time)),
          time_high(static_cast<std::int32_t>(time >> 32)),
          total(total_with_it) {}

    [[nodiscard]] std::int64_t time() const noexcept {
      return static_cast<std::int64_t>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(time_high)) << 32) |
                                       time_low);
    }

    std::uint32_t time_low;
    std::int32_t time_high;
    std::uint32_t total;  // of all costs up to and with this entry
  };
  static_assert(sizeof(Entry) == 12);

  explicit LogRing(std::uint32_t capacity) noexcept : capacity_(capacity) {}

  [[nodiscard]] Entry& at(std::uint32_t i) noexcept { return reinterpret_cast<Entry*>(this + 1)[slot(i)]; }
  [[nodiscard]] const Entry& at(std::uint32_t i) const noexcept {
    return reinterpret_cast<const Entry*>(this + 1)[slot(i)];
  }
  [[nodiscard]] std::uint32_t slot(std::uint32_t i) const noexcept {
    const std::uint32_t slot = head_ + i;
    return slot < capacity_ ? slot : slot - capacity_;
  }
  [[nodiscard]] std::uint32_t total_before(std::uint32_t i) const noexcept {
    return i == 0 ? before_ : at(i - 1).total;
  }

  template <class Predicate>
  [[nodiscard]] std::uint32_t partition_point(std::uint32_t low, Predicate holds) const noexcept {
    std::uint32_t high = size_;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (holds(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::uint32_t capacity_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t before_ = 0;  // the total up to the first entry
};

}  // namespace weir::core
