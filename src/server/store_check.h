// Whether Redis is there, and fit to hold limits: for `weir serve --check`. Takes seconds at most.
#pragma once

#include "server/check.h"
#include "server/store_config.h"

namespace weir::server {

// Adds what was found to the report: version and topology, round trip, clock, eviction; warnings are among the lines.
// What keeps Weir from using it is an error, with what to do.
void check_store(const RedisConfig& redis, CheckReport& report);

}  // namespace weir::server
