// Memory for the batches of one event loop's sessions. Used on the loop's thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir::frontend {

// An arena for the texts, header fields and descriptors that the requests of a batch refer to until they are answered.
// Its blocks are reused, so that a steady load allocates nothing.
class BatchMemory {
 public:
  [[nodiscard]] std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    auto* const kept = reinterpret_cast<char*>(allocate(text.size(), 1));
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
  }

  template <class Item>
  [[nodiscard]] std::span<Item> keep(std::span<const Item> items) {
    static_assert(std::is_trivially_destructible_v<Item> && alignof(Item) <= alignof(std::max_align_t));
    if (items.empty()) return {};
    auto* const kept = reinterpret_cast<Item*>(allocate(items.size_bytes(), alignof(Item)));
    std::uninitialized_copy(items.begin(), items.end(), kept);
    return {kept, items.size()};
  }

  // Invalidates everything returned by keep().
  void clear() noexcept {
    current_ = used_ = 0;
    for (; total_ > max_retained; blocks_.pop_back()) total_ -= blocks_.back().size;
  }

 private:
  static constexpr std::size_t first_block = std::size_t{1} << 10;
  static constexpr std::size_t max_retained = std::size_t{256} << 10;

  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };

  std::byte* allocate(std::size_t size, std::size_t alignment) {
    for (;; ++current_, used_ = 0) {
      if (current_ == blocks_.size()) add_block(size);
      const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
      if (begin + size > blocks_[current_].size) continue;
      used_ = begin + size;
      return blocks_[current_].bytes.get() + begin;
    }
  }

  void add_block(std::size_t at_least) {
    const std::size_t size = std::max(at_least, blocks_.empty() ? first_block : 2 * blocks_.back().size);
    blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    total_ += size;
  }

  std::vector<Block> blocks_;
  std::size_t total_ = 0;    // bytes in all blocks
  std::size_t current_ = 0;  // the block being filled
  std::size_t used_ = 0;     // bytes used of the current block
};

// The number of idle batches that a loop keeps for its sessions. A session uses one from a read until it responds.
inline constexpr std::size_t max_idle_batches = 64;

}  // namespace weir::frontend
