// The allocator of one nghttp2 session. It reuses freed blocks, so that a request costs no malloc in the steady state,
// and keeps freed blocks of up to 4 KiB. Not thread-safe.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace weir::wire::http2 {

class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // All blocks must have been freed.
  ~BlockPool() {
    for (Free* first : free_) {
      while (first != nullptr) {
        Free* const next = first->next;
        std::free(reinterpret_cast<Head*>(first) - 1);
        first = next;
      }
    }
  }

  // These functions correspond to malloc, calloc, realloc and free.
  [[nodiscard]] void* take(std::size_t size) noexcept {
    if (size > SIZE_MAX / 4) return nullptr;
    const std::size_t size_class = class_for(size);
    if (size_class != none && free_[size_class] != nullptr) {
      Free* const block = free_[size_class];
      free_[size_class] = block->next;
      return block;  // its head is unchanged
    }
    const std::size_t room = size_class == none ? size : smallest << size_class;
    void* const memory = std::malloc(sizeof(Head) + room);
    if (memory == nullptr) return nullptr;
    return new (memory) Head{room, size_class} + 1;
  }

  [[nodiscard]] void* take_zeroed(std::size_t size) noexcept {
    void* const block = take(size);
    if (block != nullptr) std::memset(block, 0, size);
    return block;
  }

  [[nodiscard]] void* resize(void* block, std::size_t size) noexcept {
    if (block == nullptr) return take(size);
    const std::size_t room = (static_cast<Head*>(block) - 1)->size;
    if (size <= room) return block;
    void* const larger = take(size);
    if (larger == nullptr) return nullptr;
    std::memcpy(larger, block, room);
    give_back(block);
    return larger;
  }

  void give_back(void* block) noexcept {
    if (block == nullptr) return;
    Head* const head = static_cast<Head*>(block) - 1;
    const std::size_t size_class = head->size_class;
    if (size_class == none) {
      std::free(head);
    } else {
      free_[size_class] = new (block) Free{free_[size_class]};
    }
  }

  [[nodiscard]] nghttp2_mem interface() noexcept {
    return {this, [](std::size_t size, void* user) { return of(user).take(size); },
            [](void* block, void* user) { of(user).give_back(block); },
            [](std::size_t count, std::size_t size, void* user) -> void* {
              if (size != 0 && count > SIZE_MAX / size) return nullptr;
              return of(user).take_zeroed(count * size);
            },
            [](void* block, std::size_t size, void* user) { return of(user).resize(block, size); }};
  }

 private:
  // Precedes each block.
  struct alignas(std::max_align_t) Head {
    std::size_t size;        // the size of the block
    std::size_t size_class;  // index of the size class, or `none`
  };
  struct Free {
    Free* next;
  };

  static constexpr std::size_t smallest = 32;
  static constexpr std::size_t classes = 8;  // 32 bytes to 4 KiB, each twice the previous size
  static constexpr std::size_t none = classes;

  static BlockPool& of(void* user) noexcept { return *static_cast<BlockPool*>(user); }

  static std::size_t class_for(std::size_t size) noexcept {
    constexpr auto smallest_width = static_cast<std::size_t>(std::bit_width(smallest - 1));
    return std::min(static_cast<std::size_t>(std::bit_width(std::max(size, smallest) - 1)) - smallest_width, none);
  }

  std::array<Free*, classes> free_{};
};

}  // namespace weir::wire::http2
