// The limits that CL.THROTTLE commands bring along, kept because the next ones bring the same: to make one costs more
// than to decide by it. A fixed number of them; a new one takes the place of another. One per loop.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/algorithm/gcra.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir::door {

class ThrottleLimits {
 public:
  // Null if it is not there. What is found stays until the next add().
  [[nodiscard]] const core::Gcra::Limit* find(const BucketNumbers& numbers) const noexcept;

  // The message of an error is the reply's text.
  [[nodiscard]] Result<const core::Gcra::Limit*> add(const BucketNumbers& numbers);

 private:
  static constexpr std::size_t sets = 64;
  static constexpr std::size_t places = 4;  // of a set

  struct Kept {
    BucketNumbers numbers;
    core::Gcra::Limit limit;
  };

  struct Set {
    std::array<std::optional<Kept>, places> kept;
    std::size_t next = 0;  // whose place is taken next
  };

  [[nodiscard]] static std::size_t set_of(const BucketNumbers& numbers) noexcept;

  std::vector<Set> sets_ = std::vector<Set>(sets);
};

}  // namespace weir::door
