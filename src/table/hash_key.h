// The secret of a table's hash. With a random one nobody can aim keys at one bucket.
#pragma once

#include <cstdint>

namespace weir::table {

struct HashKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  // From the operating system.
  [[nodiscard]] static HashKey random() noexcept;

  friend bool operator==(const HashKey&, const HashKey&) = default;
};

}  // namespace weir::table
