// The old home of what is in base/ascii.h, until its last users have moved on.
#pragma once

#include <string_view>

#include "base/ascii.h"

namespace weir::wire {

constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  return base::equals_name(text, lower);
}

}  // namespace weir::wire
