// What a start would do, and what would keep it from starting, without starting: for `weir serve --check`.
#pragma once

#include <string>
#include <vector>

#include "server/config.h"
#include "server/sources.h"

namespace weir::server {

struct CheckReport {
  std::vector<std::string> lines;   // what it would do
  std::vector<std::string> errors;  // what is wrong
};

// `loaded` is complete.
[[nodiscard]] CheckReport check(const Loaded& loaded);

// Whether Redis is there, and fit to hold limits. Adds to the report what was found: version and topology, round trip,
// clock, eviction; warnings are among the lines. What keeps Weir from using it is an error, with what to do. Takes
// seconds at most.
void check_store(const RedisConfig& redis, CheckReport& report);

}  // namespace weir::server
