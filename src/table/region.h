// A stretch of address space that reads as zero and takes memory only where it is written.
#pragma once

#include <cstddef>

#include "weir/result.h"

namespace weir::table {

class Region {
 public:
  static constexpr std::size_t page = 4096;

  static Result<Region> reserve(std::size_t bytes);

  Region() = default;
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  ~Region();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Gives the memory of whole pages back; they read as zero again.
  static void release(std::byte* from, std::size_t bytes) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weir::table
