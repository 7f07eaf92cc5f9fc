// What a request to the admin frontend is about: the target's path in decoded segments, and its parameters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::frontend {

struct Target {
  // Between the slashes, decoded afterwards: a %2F is part of a name. `/v1/status` has two.
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> parameters;  // in the order in which they stand
};

// In origin or absolute form. Nothing if what follows a % are not two hexadecimal digits.
[[nodiscard]] std::optional<Target> read_target(std::string_view target);

}  // namespace weir::frontend
