#include "table/siphash.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace weir::table {
namespace {

// Computed by another implementation, CPython's hash of bytes (SipHash-1-3 with a key of zeros).
TEST(SipHash, AgreesWithAnotherImplementationAtEveryKindOfLength) {
  struct Row {
    std::string_view text;
    std::uint64_t hash;
  };
  const Row rows[] = {
      {"t", 0x625550452a3fa3ec},
      {"th", 0xd657bc098992a431},
      {"the", 0xff928053756afe31},
      {"the ", 0xa55dd94ec5711f36},
      {"the q", 0x34fcfa24f5adadfb},
      {"the qu", 0xe67032bef150f89d},
      {"the qui", 0xe5193d67edf17a4e},
      {"the quic", 0x5d9863e1cf40f322},
      {"the quick", 0x02b1e862855dcc04},
      {"the quick brown", 0x928a235118f54292},
      {"the quick brown ", 0x474166703f79e928},
      {"the quick brown f", 0x7275a5aee542a340},
      {"the quick brown fox jum", 0xfd46b33cf49c823a},
      {"the quick brown fox jump", 0xd55c8268f914fb5d},
      {"the quick brown fox jumps", 0x00c98b97e4f70042},
      {"the quick brown fox jumps over ", 0xbf41b3c561506e9c},
      {"the quick brown fox jumps over t", 0x96f1f77025107bde},
      {"the quick brown fox jumps over th", 0xc3df501a15c572c6},
      {"the quick brown fox jumps over the lazy dog", 0x80a65583f613da2d},
  };
  for (const Row& row : rows) EXPECT_EQ(siphash13({0, 0}, row.text), row.hash) << row.text;
}

TEST(SipHash, DependsOnBothHalvesOfTheKey) {
  const std::set<std::uint64_t> hashes = {siphash13({0, 0}, "key"), siphash13({1, 0}, "key"), siphash13({0, 1}, "key")};
  EXPECT_EQ(hashes.size(), 3U);
}

TEST(SipHash, TellsAZeroByteFromNone) {
  using namespace std::string_view_literals;
  EXPECT_NE(siphash13({0, 0}, ""sv), siphash13({0, 0}, "\0"sv));
  EXPECT_NE(siphash13({0, 0}, "a"sv), siphash13({0, 0}, "a\0"sv));
}

TEST(HashKey, IsDifferentEachTime) {
  EXPECT_NE(HashKey::random(), HashKey::random());
}

}  // namespace
}  // namespace weir::table
