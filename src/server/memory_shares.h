// How the memory of weir.yaml is divided: CL.THROTTLE has a quarter, where its door is open; the policy has the rest.
#pragma once

#include <cstddef>

#include "server/config.h"

namespace weir::server {

[[nodiscard]] inline std::size_t throttle_memory(const Config& config) noexcept {
  return config.doors.resp ? config.state.memory / 4 : 0;
}

[[nodiscard]] inline std::size_t policy_memory(const Config& config) noexcept {
  return config.state.memory - throttle_memory(config);
}

}  // namespace weir::server
