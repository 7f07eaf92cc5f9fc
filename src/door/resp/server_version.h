// What clients are told that they speak to. They choose what to send by the version of Redis.
#pragma once

#include <string_view>

namespace weir::door {

inline constexpr std::string_view redis_version = "7.0.0";
inline constexpr std::string_view weir_version = WEIR_VERSION;

}  // namespace weir::door
