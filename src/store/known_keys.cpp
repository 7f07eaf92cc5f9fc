#include "store/known_keys.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

namespace weir::store {
namespace {

// The finalizer of MurmurHash3: every input bit affects every output bit.
std::uint64_t mixed(std::uint64_t key) noexcept {
  key ^= key >> 33;
  key *= 0xFF51AFD7ED558CCDU;
  key ^= key >> 33;
  key *= 0xC4CEB9FE1A85EC53U;
  return key ^ (key >> 33);
}

constexpr std::uint64_t max_per_second = std::numeric_limits<std::uint32_t>::max();

struct Taken {
  std::uint64_t second;
  std::uint64_t keys;
};

Taken unpacked(std::uint64_t taken) noexcept {
  return {taken >> 32, taken & max_per_second};
}

std::uint64_t second_of(Instant now) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0)) & max_per_second;
}

// The count of the current second. If the clock steps back, time stands still.
Taken taken_at(std::uint64_t taken, Instant now) noexcept {
  const Taken before = unpacked(taken);
  const std::uint64_t second = second_of(now);
  return second > before.second ? Taken{second, 0} : before;
}

}  // namespace

KnownKeys::KnownKeys(std::size_t capacity)
    : capacity_(std::max<std::size_t>(capacity, 64)),
      words_((capacity_ * bits_of_key / 64 + words_of_block - 1) / words_of_block * words_of_block) {
  for (Generation& generation : generations_) generation.words = std::make_unique<std::atomic<std::uint64_t>[]>(words_);
}

KnownKeys::Bits KnownKeys::bits_of(std::uint64_t key) const noexcept {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t place = mixed(key);
  const std::uint64_t blocks = words_ / words_of_block;
  Bits bits{.first_word = static_cast<std::size_t>((Wide{place} * blocks) >> 64) * words_of_block, .in_block = {}};
  std::uint64_t rest = mixed(place);
  for (std::uint32_t& bit : bits.in_block) {
    bit = static_cast<std::uint32_t>(rest % (words_of_block * 64));
    rest >>= 9;
  }
  return bits;
}

bool KnownKeys::has(const Generation& generation, const Bits& bits) noexcept {
  return std::ranges::all_of(bits.in_block, [&](std::uint32_t bit) {
    const std::uint64_t word = generation.words[bits.first_word + bit / 64].load(std::memory_order_relaxed);
    return ((word >> (bit % 64)) & 1) != 0;
  });
}

bool KnownKeys::knows(std::uint64_t key) const noexcept {
  const Bits bits = bits_of(key);
  return std::ranges::any_of(generations_, [&](const Generation& generation) { return has(generation, bits); });
}

void KnownKeys::remember(std::uint64_t key) noexcept {
  const Bits bits = bits_of(key);
  const std::size_t current = current_.load(std::memory_order_acquire);
  Generation& generation = generations_[current];
  if (has(generation, bits)) return;
  for (const std::uint32_t bit : bits.in_block) {
    generation.words[bits.first_word + bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
  }
  if (generation.keys.fetch_add(1, std::memory_order_relaxed) + 1 >= capacity_) forget_older(current);
}

// Empties the older generation and makes it the current one. A concurrent reader may take one of its keys for new.
void KnownKeys::forget_older(std::size_t current) noexcept {
  const std::lock_guard lock(mutex_);
  if (current_.load(std::memory_order_relaxed) != current) return;
  Generation& older = generations_[1 - current];
  for (std::size_t i = 0; i < words_; ++i) older.words[i].store(0, std::memory_order_relaxed);
  older.keys.store(0, std::memory_order_relaxed);
  current_.store(1 - current, std::memory_order_release);
}

NewKeyBound::NewKeyBound(std::shared_ptr<KnownKeys> known, std::string_view limit, std::uint64_t max_per_second)
    : known_(std::move(known)),
      limit_(limit),
      salt_(mixed(std::hash<std::string_view>{}(limit))),
      max_per_second_(std::min(max_per_second, max_per_second)) {}

std::uint64_t NewKeyBound::name_of(table::KeyHash consumer) const noexcept {
  return consumer.value ^ salt_;
}

bool NewKeyBound::admit(table::KeyHash consumer, Instant now) noexcept {
  const std::uint64_t name = name_of(consumer);
  if (!known_->knows(name)) {
    std::uint64_t before = taken_.load(std::memory_order_relaxed);
    Taken taken{};
    do {
      taken = taken_at(before, now);
      if (taken.keys >= max_per_second_) {
        beyond_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    } while (!taken_.compare_exchange_weak(before, taken.second << 32 | (taken.keys + 1), std::memory_order_relaxed));
  }
  known_->remember(name);
  return true;
}

bool NewKeyBound::would_admit(table::KeyHash consumer, Instant now) const noexcept {
  return known_->knows(name_of(consumer)) ||
         taken_at(taken_.load(std::memory_order_relaxed), now).keys < max_per_second_;
}

void NewKeyBound::write_overflow(table::KeyHash consumer, std::string& text) const {
  text = "overflow:" + limit_ + ":" + std::to_string(consumer.value % overflow_keys);
}

}  // namespace weir::store
