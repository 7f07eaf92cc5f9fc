// What the operating system knows about this process.
#pragma once

#include <cstdint>

#include "weir/time.h"

namespace weir::observe {

struct ProcessFigures {
  std::uint64_t cpu_microseconds = 0;  // of user and system together
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_descriptors = 0;
  std::uint64_t most_descriptors = 0;
};

// What cannot be read is zero.
[[nodiscard]] ProcessFigures process_figures();

}  // namespace weir::observe
