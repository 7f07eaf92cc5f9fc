// SPDX-License-Identifier: Apache-2.0
// Time in Weir: whole microseconds since the Unix epoch, everywhere.
#pragma once

#include <chrono>

namespace weir {

using Duration = std::chrono::microseconds;
using Instant = std::chrono::sys_time<Duration>;

}  // namespace weir
