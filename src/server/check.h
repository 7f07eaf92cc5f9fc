// What a start would do, and what would keep it from starting, without starting: for `weir serve --check`.
#pragma once

#include <string>
#include <vector>

#include "server/sources.h"

namespace weir::server {

struct CheckReport {
  std::vector<std::string> lines;   // what it would do
  std::vector<std::string> errors;  // what is wrong
};

// `loaded` is complete.
[[nodiscard]] CheckReport check(const Loaded& loaded);

}  // namespace weir::server
