#include "wire/http2/block_pool.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace weir::wire::http2 {
namespace {

TEST(BlockPool, ReusesBlocks) {
  BlockPool pool;
  for (const std::size_t size : {0U, 1U, 32U, 33U, 1'000U, 4'096U}) {
    void* const first = pool.take(size);
    ASSERT_NE(first, nullptr);
    std::memset(first, 0xFF, size);
    pool.give_back(first);
    void* const second = pool.take(size);
    EXPECT_EQ(second, first) << size;
    pool.give_back(second);
  }
}

TEST(BlockPool, ResizedBlockKeepsItsBytes) {
  BlockPool pool;
  void* block = pool.resize(nullptr, 10);
  std::memcpy(block, "0123456789", 10);
  for (const std::size_t size : {32U, 33U, 5'000U, 100'000U}) {
    block = pool.resize(block, size);
    EXPECT_EQ(std::memcmp(block, "0123456789", 10), 0) << size;
  }
  pool.give_back(block);
}

TEST(BlockPool, ZeroedBlockIsZeroAlsoWhenUsedBefore) {
  BlockPool pool;
  void* const used = pool.take(64);
  std::memset(used, 0xFF, 64);
  pool.give_back(used);
  auto* const block = static_cast<char*>(pool.take_zeroed(64));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(block[i], 0) << i;
  pool.give_back(block);
}

TEST(BlockPool, HugeSizesFail) {
  BlockPool pool;
  EXPECT_EQ(pool.take(~std::size_t{0}), nullptr);
  const nghttp2_mem memory = pool.interface();
  EXPECT_EQ(memory.calloc(~std::size_t{0}, 2, memory.mem_user_data), nullptr);
}

}  // namespace
}  // namespace weir::wire::http2
