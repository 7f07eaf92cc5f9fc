// `weir serve --check`: validates a configuration and describes it, without starting a server.
#pragma once

#include <string>
#include <vector>

#include "server/config.h"
#include "server/sources.h"

namespace weir::server {

struct CheckReport {
  std::vector<std::string> lines;  // the configuration in effect, and warnings
  std::vector<std::string> errors;
};

// `loaded` must be complete.
[[nodiscard]] CheckReport check(const Loaded& loaded);

// Connects to Redis and adds to the report: version and topology, round trip, clock, eviction policy, and an error with
// a remedy for anything that keeps Weir from using it. Takes a few seconds at most.
void check_store(const RedisConfig& redis, CheckReport& report);

}  // namespace weir::server
