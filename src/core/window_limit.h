// The numbers of every algorithm on windows: so many in each stretch of so long.
#pragma once

#include <cstdint>

#include "weir/limit.h"

namespace weir::core {

struct WindowLimit {
  std::uint64_t limit = 0;
  std::int64_t window = 0;  // microseconds

  WindowLimit() = default;
  explicit WindowLimit(const Limit& checked) noexcept : limit(checked.capacity()), window(checked.rate().per.count()) {}
};

}  // namespace weir::core
