// Memory for one nghttp2 session: what it gives back it gets again, so that in the steady state a request costs no
// call of malloc. Holds on to as much as was in use at once. Not thread-safe.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>

namespace weir::wire::http2 {

class BlockPool {
 public:
  BlockPool() = default;
  // All blocks have been given back.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // As malloc, calloc, realloc and free.
  [[nodiscard]] void* take(std::size_t size) noexcept;
  [[nodiscard]] void* take_zeroed(std::size_t size) noexcept;
  [[nodiscard]] void* resize(void* block, std::size_t size) noexcept;
  void give_back(void* block) noexcept;

  [[nodiscard]] nghttp2_mem interface() noexcept;

 private:
  // In front of each block while it is in use.
  struct alignas(std::max_align_t) Head {
    std::size_t size;   // of what follows
    std::size_t shelf;  // or `none`
  };
  struct Free {
    Free* next;
  };

  static constexpr std::size_t smallest = 32;
  static constexpr std::size_t shelves = 8;  // 32 bytes to 4 KiB, each twice the one before
  static constexpr std::size_t none = shelves;

  static std::size_t shelf_for(std::size_t size) noexcept;

  std::array<Free*, shelves> free_{};
};

}  // namespace weir::wire::http2
