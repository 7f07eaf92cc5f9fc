// Consumer -> what is known of it, for as many consumers as there is room for: all of them, or a fair sample.
//
// When there are more than `most`, only those stay whose hash is below a threshold, which is halved until they fit.
// Whether a consumer is in the sample depends on nothing but its (keyed) hash, and one that is in it has been since
// its first request. So the sample is uniform over consumers, and its quantiles estimate those of all.
//
// Open addressing, at most four fifths full; a slot is read by one miss of the cache. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::simulate {

template <class State>
class ConsumerSample {
 public:
  explicit ConsumerSample(std::size_t most) : most_(most < 1 ? 1 : most), slots_(first_slots) {}

  // The state of a consumer, default-constructed at first; null if it is not in the sample.
  [[nodiscard]] State* find(std::uint64_t consumer) {
    const std::uint64_t hash = consumer == empty ? 1 : consumer;
    if (hash > threshold_) return nullptr;
    Slot* slot = slot_of(hash);
    if (slot->hash == hash) return &slot->state;
    if (count_ + 1 > most_ || (count_ + 1) * 5 > slots_.size() * 4) {
      make_room();
      if (hash > threshold_) return nullptr;
      slot = slot_of(hash);
    }
    slot->hash = hash;
    ++count_;
    return &slot->state;
  }

  // Where the search for a consumer begins, to be brought into the cache. (g++ 12 takes a function that does nothing
  // but prefetch for one that does nothing.)
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

  // One in how many consumers is in the sample: 1 means all.
  [[nodiscard]] std::uint64_t one_in() const noexcept { return std::uint64_t{1} << halvings_; }

 private:
  static constexpr std::uint64_t empty = 0;
  static constexpr std::size_t first_slots = 64;

  struct alignas(64) Slot {
    std::uint64_t hash = empty;
    State state{};
  };

  // Where the consumer is, or where it would go.
  [[nodiscard]] Slot* slot_of(std::uint64_t hash) noexcept {
    std::size_t place = hash & (slots_.size() - 1);
    while (slots_[place].hash != hash && slots_[place].hash != empty) place = (place + 1) & (slots_.size() - 1);
    return &slots_[place];
  }

  void make_room() {
    std::size_t size = slots_.size();
    if (count_ + 1 > most_) {
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
    if (count_ + 1 > most_ && threshold_ > 0) make_room();
  }

  std::size_t most_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint64_t threshold_ = ~std::uint64_t{0};
  unsigned halvings_ = 0;
};

}  // namespace weir::simulate
