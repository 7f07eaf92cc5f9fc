#include "table/siphash_lanes.h"

#include <algorithm>
#include <array>

#include "table/siphash.h"

namespace weir::table {
namespace {

using Lanes = std::uint64_t __attribute__((vector_size(siphash_lanes * sizeof(std::uint64_t))));

// Compiled once for each kind of vectors below; vectors never cross a call.
[[gnu::always_inline]] inline void hash_lanes(const HashKey& key, const std::string_view* keys,
                                              std::uint64_t* hashes) noexcept {
  const Lanes zero{};
  Lanes v0 = zero + (key.first ^ 0x736f6d6570736575);
  Lanes v1 = zero + (key.second ^ 0x646f72616e646f6d);
  Lanes v2 = zero + (key.first ^ 0x6c7967656e657261);
  Lanes v3 = zero + (key.second ^ 0x7465646279746573);
  const auto round = [&]() __attribute__((always_inline)) {
    v0 += v1;
    v1 = ((v1 << 13) | (v1 >> 51)) ^ v0;
    v0 = (v0 << 32) | (v0 >> 32);
    v2 += v3;
    v3 = ((v3 << 16) | (v3 >> 48)) ^ v2;
    v0 += v3;
    v3 = ((v3 << 21) | (v3 >> 43)) ^ v0;
    v2 += v1;
    v1 = ((v1 << 17) | (v1 >> 47)) ^ v2;
    v2 = (v2 << 32) | (v2 >> 32);
  };

  std::size_t shortest = keys[0].size() / 8;
  std::size_t longest = shortest;
  for (std::size_t lane = 1; lane < siphash_lanes; ++lane) {
    shortest = std::min(shortest, keys[lane].size() / 8);
    longest = std::max(longest, keys[lane].size() / 8);
  }
  for (std::size_t i = 0; i < shortest; ++i) {
    const auto word = [&](std::size_t lane) { return siphash_detail::word_at(keys[lane], i); };
    const Lanes words = {word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)};
    v3 ^= words;
    round();
    v0 ^= words;
  }
  // From here on some lanes may be at their last word, and keep what they have after it.
  for (std::size_t i = shortest; i <= longest; ++i) {
    const auto word = [&](std::size_t lane) {
      const bool whole = i < keys[lane].size() / 8;
      return whole ? siphash_detail::word_at(keys[lane], i) : siphash_detail::last_word(keys[lane]);
    };
    const auto mask = [&](std::size_t lane) { return i <= keys[lane].size() / 8 ? ~std::uint64_t{0} : 0; };
    const Lanes words = {word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)};
    const Lanes takes_part = {mask(0), mask(1), mask(2), mask(3), mask(4), mask(5), mask(6), mask(7)};
    const Lanes before[4] = {v0, v1, v2, v3};
    v3 ^= words;
    round();
    v0 ^= words;
    v0 = (v0 & takes_part) | (before[0] & ~takes_part);
    v1 = (v1 & takes_part) | (before[1] & ~takes_part);
    v2 = (v2 & takes_part) | (before[2] & ~takes_part);
    v3 = (v3 & takes_part) | (before[3] & ~takes_part);
  }
  v2 ^= 0xff;
  round();
  round();
  round();
  const Lanes hashed = v0 ^ v1 ^ v2 ^ v3;
  for (std::size_t lane = 0; lane < siphash_lanes; ++lane) hashes[lane] = hashed[lane];
}

using HashLanes = void (*)(const HashKey&, const std::string_view*, std::uint64_t*) noexcept;

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512vl")]] void hash_lanes_avx512(const HashKey& key, const std::string_view* keys,
                                                           std::uint64_t* hashes) noexcept {
  hash_lanes(key, keys, hashes);
}

[[gnu::target("avx2")]] void hash_lanes_avx2(const HashKey& key, const std::string_view* keys,
                                             std::uint64_t* hashes) noexcept {
  hash_lanes(key, keys, hashes);
}
#endif

void hash_one_by_one(const HashKey& key, const std::string_view* keys, std::uint64_t* hashes) noexcept {
  for (std::size_t lane = 0; lane < siphash_lanes; ++lane) hashes[lane] = siphash13(key, keys[lane]);
}

HashLanes widest() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0) return hash_lanes_avx512;
  if (__builtin_cpu_supports("avx2") != 0) return hash_lanes_avx2;
#endif
  return hash_one_by_one;
}

}  // namespace

void siphash13_lanes(const HashKey& key, const std::string_view* keys, std::uint64_t* hashes) noexcept {
  static const HashLanes hash = widest();
  hash(key, keys, hashes);
}

}  // namespace weir::table
