// What questions view, kept until they are answered: texts, header fields, descriptors. One thread at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir::door {

class QuestionArena {
 public:
  // As much as `first_block` holds allocates nothing.
  explicit QuestionArena(std::size_t first_block) : block_(first_block), memory_(block_.data(), block_.size()) {}

  [[nodiscard]] std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    auto* const kept = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
  }

  template <class Item>
  [[nodiscard]] std::span<Item> keep(std::span<const Item> items) {
    static_assert(std::is_trivially_destructible_v<Item>);
    if (items.empty()) return {};
    auto* const kept = static_cast<Item*>(memory_.allocate(items.size_bytes(), alignof(Item)));
    std::uninitialized_copy(items.begin(), items.end(), kept);
    return {kept, items.size()};
  }

  // All that was kept is gone.
  void clear() { memory_.release(); }

 private:
  std::vector<std::byte> block_;
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace weir::door
