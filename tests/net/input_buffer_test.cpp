// The input buffer loses no byte and never exceeds its bound.
#include "net/buffers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weir::net {
namespace {

// Fills the room, or `most` bytes of it.
std::size_t fill(InputBuffer& buffer, std::size_t most) {
  const std::span<char> room = buffer.room();
  const std::size_t count = std::min(most, room.size());
  std::fill_n(room.begin(), count, 'x');
  buffer.fill(count);
  return count;
}

std::string_view text(std::span<const char> bytes) {
  return {bytes.data(), bytes.size()};
}

TEST(InputBuffer, GrowsWhileReadsFillItUpToABatch) {
  InputBuffer buffer(std::size_t{1} << 20);
  EXPECT_EQ(fill(buffer, SIZE_MAX), InputBuffer::first_size);
  for (int i = 0; i < 10; ++i) {
    buffer.consume(SIZE_MAX);
    fill(buffer, SIZE_MAX);
  }
  EXPECT_EQ(buffer.size(), InputBuffer::batch_size);
}

TEST(InputBuffer, StaysSmallForSmallReads) {
  InputBuffer buffer(std::size_t{1} << 20);
  for (int i = 0; i < 1000; ++i) {
    fill(buffer, 100);
    buffer.consume(i % 3 == 0 ? 50 : 150);
  }
  EXPECT_EQ(buffer.size(), InputBuffer::first_size);
}

TEST(InputBuffer, GrowsToItsBoundAndShrinksAgain) {
  constexpr std::size_t bound = 1'000'000;
  InputBuffer buffer(bound);
  while (fill(buffer, SIZE_MAX) > 0) EXPECT_LE(buffer.size(), bound);
  EXPECT_TRUE(buffer.at_bound());
  EXPECT_EQ(buffer.pending().size(), bound);
  buffer.consume(bound - 1);
  EXPECT_FALSE(buffer.room().empty());
  EXPECT_EQ(buffer.size(), InputBuffer::batch_size);
  EXPECT_EQ(text(buffer.pending()), "x");
}

TEST(InputBuffer, KeepsEveryByteInOrder) {
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<std::uint16_t, std::uint16_t>>& steps) {
    const std::size_t bound = *rc::gen::inRange<std::size_t>(1, 200'000);
    InputBuffer buffer(bound);
    std::string expected;
    char next = 0;
    for (const auto& [came, done] : steps) {
      const std::span<char> room = buffer.room();
      RC_ASSERT(room.empty() == (expected.size() == bound));
      const std::size_t count = std::min<std::size_t>(came, room.size());
      for (std::size_t i = 0; i < count; ++i) expected += room[i] = next++;
      buffer.fill(count);
      RC_ASSERT(text(buffer.pending()) == expected);
      const std::size_t gone = std::min<std::size_t>(done, expected.size());
      buffer.consume(gone);
      expected.erase(0, gone);
      RC_ASSERT(text(buffer.pending()) == expected);
      RC_ASSERT(buffer.size() <= bound);
    }
  }));
}

}  // namespace
}  // namespace weir::net
