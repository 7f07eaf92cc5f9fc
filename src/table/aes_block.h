// AES rounds on blocks of 16 bytes, with the instructions of x86-64 and arm64, which produce the same bits.
//
// WEIR_AES is 1 where such instructions exist; can_hash tells whether this processor has them. Callers of these
// functions need the attribute WEIR_AES_TARGET, so that they can be inlined.
#pragma once

#if defined(__x86_64__)
#define WEIR_AES 1
#define WEIR_AES_TARGET gnu::target("aes")
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define WEIR_AES 1
#define WEIR_AES_TARGET gnu::target("+crypto")
#include <arm_neon.h>
#else
#define WEIR_AES 0
#endif

#include <array>
#include <cstdint>

#if WEIR_AES

namespace weir::table {

// A block in memory: the lower 8 bytes first.
struct alignas(16) AesWords {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// The keys of four rounds.
using AesRounds = std::array<AesWords, 4>;

#if defined(__x86_64__)

using AesBlock = __m128i;

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_load(const char* bytes) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_load(const AesWords& words) noexcept {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(&words));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_xor(AesBlock a, AesBlock b) noexcept {
  return _mm_xor_si128(a, b);
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_from_low(std::uint64_t low) noexcept {
  return _mm_cvtsi64_si128(static_cast<std::int64_t>(low));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline std::uint64_t aes_low(AesBlock block) noexcept {
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(block));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_through(const AesRounds& rounds, AesBlock block) noexcept {
  block = _mm_aesenc_si128(block, aes_load(rounds[0]));
  block = _mm_aesenc_si128(block, aes_load(rounds[1]));
  block = _mm_aesenc_si128(block, aes_load(rounds[2]));
  return _mm_aesenc_si128(block, aes_load(rounds[3]));
}

#else

using AesBlock = uint8x16_t;

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_load(const char* bytes) noexcept {
  return vld1q_u8(reinterpret_cast<const std::uint8_t*>(bytes));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_load(const AesWords& words) noexcept {
  return vreinterpretq_u8_u64(vld1q_u64(&words.low));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_xor(AesBlock a, AesBlock b) noexcept {
  return veorq_u8(a, b);
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_from_low(std::uint64_t low) noexcept {
  return vreinterpretq_u8_u64(vsetq_lane_u64(low, vdupq_n_u64(0), 0));
}

[[WEIR_AES_TARGET, gnu::always_inline]] inline std::uint64_t aes_low(AesBlock block) noexcept {
  return vgetq_lane_u64(vreinterpretq_u64_u8(block), 0);
}

// The key of a round is added at its end, as on x86-64. The arm64 instruction adds one at the beginning: the key of the
// previous round.
[[WEIR_AES_TARGET, gnu::always_inline]] inline AesBlock aes_through(const AesRounds& rounds, AesBlock block) noexcept {
  block = vaesmcq_u8(vaeseq_u8(block, vdupq_n_u8(0)));
  block = vaesmcq_u8(vaeseq_u8(block, aes_load(rounds[0])));
  block = vaesmcq_u8(vaeseq_u8(block, aes_load(rounds[1])));
  block = vaesmcq_u8(vaeseq_u8(block, aes_load(rounds[2])));
  return veorq_u8(block, aes_load(rounds[3]));
}

#endif

}  // namespace weir::table

#endif
