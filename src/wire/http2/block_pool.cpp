#include "wire/http2/block_pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace weir::wire::http2 {
namespace {

BlockPool& pool_of(void* user) noexcept {
  return *static_cast<BlockPool*>(user);
}

}  // namespace

BlockPool::~BlockPool() {
  for (Free* first : free_) {
    while (first != nullptr) {
      Free* const next = first->next;
      std::free(reinterpret_cast<Head*>(first) - 1);
      first = next;
    }
  }
}

std::size_t BlockPool::shelf_for(std::size_t size) noexcept {
  constexpr auto smallest_width = static_cast<std::size_t>(std::bit_width(smallest - 1));
  return std::min(static_cast<std::size_t>(std::bit_width(std::max(size, smallest) - 1)) - smallest_width, none);
}

void* BlockPool::take(std::size_t size) noexcept {
  if (size > SIZE_MAX / 4) return nullptr;
  const std::size_t shelf = shelf_for(size);
  if (shelf != none && free_[shelf] != nullptr) {
    Free* const block = free_[shelf];
    free_[shelf] = block->next;
    return block;  // its head is as it was
  }
  const std::size_t room = shelf == none ? size : smallest << shelf;
  void* const memory = std::malloc(sizeof(Head) + room);
  if (memory == nullptr) return nullptr;
  return new (memory) Head{room, shelf} + 1;
}

void* BlockPool::take_zeroed(std::size_t size) noexcept {
  void* const block = take(size);
  if (block != nullptr) std::memset(block, 0, size);
  return block;
}

void* BlockPool::resize(void* block, std::size_t size) noexcept {
  if (block == nullptr) return take(size);
  const std::size_t room = (static_cast<Head*>(block) - 1)->size;
  if (size <= room) return block;
  void* const larger = take(size);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, room);
  give_back(block);
  return larger;
}

void BlockPool::give_back(void* block) noexcept {
  if (block == nullptr) return;
  Head* const head = static_cast<Head*>(block) - 1;
  const std::size_t shelf = head->shelf;
  if (shelf == none) {
    std::free(head);
  } else {
    free_[shelf] = new (block) Free{free_[shelf]};
  }
}

nghttp2_mem BlockPool::interface() noexcept {
  return {this, [](std::size_t size, void* user) { return pool_of(user).take(size); },
          [](void* block, void* user) { pool_of(user).give_back(block); },
          [](std::size_t count, std::size_t size, void* user) -> void* {
            if (size != 0 && count > SIZE_MAX / size) return nullptr;
            return pool_of(user).take_zeroed(count * size);
          },
          [](void* block, std::size_t size, void* user) { return pool_of(user).resize(block, size); }};
}

}  // namespace weir::wire::http2
