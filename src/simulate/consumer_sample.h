// A map from consumer to state for all consumers or, if there are more than `max_size`, a uniform sample of them.
//
// Above `max_size`, only consumers whose hash is below a threshold stay; the threshold is halved until they fit. Its
// keyed hash alone decides whether a consumer is in the sample, and a consumer in the sample has been there since its
// first request. The quantiles of the sample therefore estimate those of all consumers.
//
// Open addressing, at most 80 % full; one lookup costs one cache miss. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::simulate {

template <class State>
class ConsumerSample {
 public:
  explicit ConsumerSample(std::size_t max_size) : max_size_(max_size < 1 ? 1 : max_size), slots_(first_slots) {}

  // Returns the state of a consumer, default-constructed at its first request; null if it is not in the sample.
  [[nodiscard]] State* find(std::uint64_t consumer) {
    const std::uint64_t hash = consumer == empty ? 1 : consumer;
    if (hash > threshold_) return nullptr;
    Slot* slot = slot_of(hash);
    if (slot->hash == hash) return &slot->state;
    if (count_ + 1 > max_size_ || (count_ + 1) * 5 > slots_.size() * 4) {
      make_room();
      if (hash > threshold_) return nullptr;
      slot = slot_of(hash);
    }
    slot->hash = hash;
    ++count_;
    return &slot->state;
  }

  // Returns the first slot of the search for a consumer, so that the caller can prefetch it. (g++ 12 optimizes away a
  // function that only prefetches.)
  [[nodiscard]] const void* home_of(std::uint64_t consumer) const noexcept {
    return consumer > threshold_ ? nullptr : &slots_[consumer & (slots_.size() - 1)];
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.hash != empty) visit(slot.state);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  // The sampling ratio: one in this many consumers is in the sample.
  [[nodiscard]] std::uint64_t one_in() const noexcept { return std::uint64_t{1} << halvings_; }

 private:
  static constexpr std::uint64_t empty = 0;
  static constexpr std::size_t first_slots = 64;

  struct alignas(64) Slot {
    std::uint64_t hash = empty;
    State state{};
  };

  // Returns the slot of the consumer, or the empty slot where it would be inserted.
  [[nodiscard]] Slot* slot_of(std::uint64_t hash) noexcept {
    std::size_t index = hash & (slots_.size() - 1);
    while (slots_[index].hash != hash && slots_[index].hash != empty) index = (index + 1) & (slots_.size() - 1);
    return &slots_[index];
  }

  void make_room() {
    std::size_t size = slots_.size();
    if (count_ + 1 > max_size_) {
      ++halvings_;
      threshold_ >>= 1;
    } else {
      size *= 2;
    }
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(size));
    count_ = 0;
    for (const Slot& slot : before) {
      if (slot.hash == empty || slot.hash > threshold_) continue;
      *slot_of(slot.hash) = slot;
      ++count_;
    }
    if (count_ + 1 > max_size_ && threshold_ > 0) make_room();
  }

  std::size_t max_size_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint64_t threshold_ = ~std::uint64_t{0};
  unsigned halvings_ = 0;
};

}  // namespace weir::simulate
