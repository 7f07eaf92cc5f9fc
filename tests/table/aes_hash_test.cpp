// The hash of AES rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "table/keyed_hash.h"

#if WEIR_AES

namespace weir::table {
namespace {

// AES in the words of FIPS 197: a block is a square of bytes, column by column. Slow and plain.
using Block = std::array<std::uint8_t, 16>;

std::uint8_t times(std::uint8_t a, std::uint8_t b) {
  std::uint8_t product = 0;
  for (; b != 0; b = static_cast<std::uint8_t>(b >> 1)) {
    if ((b & 1) != 0) product ^= a;
    a = static_cast<std::uint8_t>((a << 1) ^ ((a & 0x80) != 0 ? 0x1b : 0));
  }
  return product;
}

std::uint8_t substitute(std::uint8_t byte) {
  std::uint8_t inverse = 1;
  for (int i = 0; i < 254; ++i) inverse = times(inverse, byte);
  std::uint8_t out = 0x63;
  for (int turn = 0; turn <= 4; ++turn) out ^= std::rotl(inverse, turn);
  return out;
}

const std::array<std::uint8_t, 256>& substitutions() {
  static const auto table = [] {
    std::array<std::uint8_t, 256> made{};
    for (unsigned i = 0; i < made.size(); ++i) made[i] = substitute(static_cast<std::uint8_t>(i));
    return made;
  }();
  return table;
}

Block round_of(const Block& block, const Block& key) {
  Block out{};
  for (std::size_t column = 0; column < 4; ++column) {
    std::array<std::uint8_t, 4> shifted{};
    for (std::size_t row = 0; row < 4; ++row) shifted[row] = substitutions()[block[(column + row) % 4 * 4 + row]];
    for (std::size_t row = 0; row < 4; ++row) {
      out[column * 4 + row] = static_cast<std::uint8_t>(times(shifted[row], 2) ^ times(shifted[(row + 1) % 4], 3) ^
                                                        shifted[(row + 2) % 4] ^ shifted[(row + 3) % 4]);
    }
  }
  for (std::size_t i = 0; i < 16; ++i) out[i] ^= key[i];
  return out;
}

Block block_of(const AesWords& words) {
  return std::bit_cast<Block>(words);
}

Block through(const AesRounds& rounds, Block block) {
  for (const AesWords& key : rounds) block = round_of(block, block_of(key));
  return block;
}

Block mixed(Block block, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) block[i] ^= static_cast<std::uint8_t>(bytes[i]);
  return block;
}

std::string short_block(std::string_view bytes) {
  const std::size_t size = bytes.size();
  std::string out(16, '\0');
  const std::size_t piece = size >= 8 ? 8 : 4;
  if (size >= 4) {
    out.replace(0, piece, bytes.substr(0, piece));
    out.replace(8, piece, bytes.substr(size - piece));
  } else if (size > 0) {
    out[0] = bytes[0];
    out[1] = bytes[size / 2];
    out[2] = bytes[size - 1];
  }
  return out;
}

std::uint64_t plain_hash(const AesKeys& keys, std::string_view bytes) {
  Block x = block_of(keys.begin_a);
  Block y = block_of(keys.begin_b);
  if (bytes.size() < 16) {
    x = mixed(x, short_block(bytes));
  } else {
    x = mixed(x, bytes.substr(0, 16));
    for (std::size_t at = 16; bytes.size() - at > 16; at += 16) x = mixed(through(keys.a, x), bytes.substr(at, 16));
    y = mixed(y, bytes.substr(bytes.size() - 16));
  }
  x = through(keys.a, x);
  y = through(keys.b, y);
  for (std::size_t i = 0; i < 16; ++i) x[i] ^= y[i];
  for (std::size_t i = 0; i < 8; ++i) x[i] ^= static_cast<std::uint8_t>(std::uint64_t{bytes.size()} >> (8 * i));
  const Block hashed = through(keys.f, x);
  std::uint64_t low = 0;
  for (std::size_t i = 0; i < 8; ++i) low |= std::uint64_t{hashed[i]} << (8 * i);
  return low;
}

class AesHash : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_hash(HashKind::aes)) GTEST_SKIP() << "this processor has no AES instructions, so nothing hashes by them";
  }

  static std::uint64_t hash(std::string_view bytes) {
    static const KeyedHash keyed({1, 2, HashKind::aes});
    return keyed(bytes);
  }
};

TEST_F(AesHash, ThePlainRoundsAreThoseOfTheStandard) {
  // FIPS 197, appendix B: the first round.
  const Block before{0x19, 0x3d, 0xe3, 0xbe, 0xa0, 0xf4, 0xe2, 0x2b, 0x9a, 0xc6, 0x8d, 0x2a, 0xe9, 0xf8, 0x48, 0x08};
  const Block key{0xa0, 0xfa, 0xfe, 0x17, 0x88, 0x54, 0x2c, 0xb1, 0x23, 0xa3, 0x39, 0x39, 0x2a, 0x6c, 0x76, 0x05};
  const Block after{0xa4, 0x9c, 0x7f, 0xf2, 0x68, 0x9f, 0x35, 0x2b, 0x6b, 0x5b, 0xea, 0x43, 0x02, 0x6a, 0x50, 0x49};
  EXPECT_EQ(round_of(before, key), after);
}

TEST_F(AesHash, AgreesWithThePlainRoundsAtEveryLength) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 20; ++round) {
    const HashKey key{random(), random(), HashKind::aes};
    const KeyedHash keyed(key);
    for (std::size_t size = 0; size <= 130; ++size) {
      std::string bytes(size, '\0');
      std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
      ASSERT_EQ(keyed(bytes), plain_hash(AesKeys(key), bytes)) << size;
    }
  }
}

TEST_F(AesHash, StaysAsItIsInSnapshots) {
  struct Row {
    std::string_view text;
    std::uint64_t hash;
  };
  const Row rows[] = {
      {"", 0x7798adffa7a7e2da},
      {"the", 0xf54ba97a1bb8c47f},
      {"the qui", 0x29192e975bcffa89},
      {"the quick brown", 0xec5b3a86621d85d4},
      {"the quick brown ", 0x5cb349d6d6cf0e42},
      {"the quick brown fox jump", 0x255ca876cb12ec55},
      {"the quick brown fox jumps over th", 0x262389f2017c438a},
      {"the quick brown fox jumps over the lazy dog and over it once more", 0x84b3009cb80618dc},
  };
  for (const Row& row : rows) EXPECT_EQ(hash(row.text), row.hash) << row.text;
}

TEST_F(AesHash, ReadsNothingBeyondTheKey) {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::vector<char> exact(size, 'x');  // ends where its memory ends, which AddressSanitizer checks
    EXPECT_EQ(hash({exact.data(), size}), hash(std::string(size, 'x')));
  }
}

TEST_F(AesHash, DependsOnBothHalvesOfTheSecret) {
  const std::unordered_set<std::uint64_t> hashes = {KeyedHash({0, 0, HashKind::aes})("key"),
                                                    KeyedHash({1, 0, HashKind::aes})("key"),
                                                    KeyedHash({0, 1, HashKind::aes})("key")};
  EXPECT_EQ(hashes.size(), 3U);
}

TEST_F(AesHash, TellsKeysOfTheSameByteApartByTheirLength) {
  for (const char byte : {'\0', 'a', '\xff'}) {
    std::unordered_set<std::uint64_t> hashes;
    for (std::size_t size = 0; size <= 500; ++size) hashes.insert(hash(std::string(size, byte)));
    EXPECT_EQ(hashes.size(), 501U);
  }
}

TEST_F(AesHash, EveryBitOfAKeyTurnsHalfOfTheHash) {
  std::mt19937_64 random{11};
  for (const std::size_t size : {1U, 3U, 7U, 8U, 15U, 16U, 17U, 24U, 32U, 33U, 64U}) {
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      int turned = 0;
      for (int round = 0; round < 64; ++round) {
        std::string bytes(size, '\0');
        std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
        const std::uint64_t before = hash(bytes);
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        turned += std::popcount(before ^ hash(bytes));
      }
      // Half of 4,096 bits are expected, within seven standard deviations of 32.
      EXPECT_NEAR(turned, 2048, 224) << size << " bytes, bit " << bit;
    }
  }
}

TEST_F(AesHash, SpreadsCountedKeysEvenlyOverBuckets) {
  constexpr std::size_t buckets = 4096;
  constexpr int keys = 1 << 20;
  std::vector<int> by_upper_bits(buckets);
  std::vector<int> by_lower_bits(buckets);
  for (int i = 0; i < keys; ++i) {
    const std::uint64_t hashed = hash("account:" + std::to_string(10'000'000 + i));
    ++by_upper_bits[hashed >> 52];
    ++by_lower_bits[hashed % buckets];
  }
  for (const auto& counts : {by_upper_bits, by_lower_bits}) {
    const double expected = static_cast<double>(keys) / buckets;
    double chi_squared = 0;
    for (const int count : counts) chi_squared += (count - expected) * (count - expected) / expected;
    // 4,095 degrees of freedom: within six standard deviations of the mean.
    EXPECT_NEAR(chi_squared, 4095, 6 * std::sqrt(2 * 4095.0));
  }
}

}  // namespace
}  // namespace weir::table

#endif
