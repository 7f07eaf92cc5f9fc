// The script that decides in the server: the parts in script/, assembled and embedded in the program.
#pragma once

#include <string_view>

namespace weir::store::redis {

[[nodiscard]] std::string_view script_source() noexcept;

// The script's SHA-1 in hexadecimal, for EVALSHA.
[[nodiscard]] std::string_view script_digest() noexcept;

}  // namespace weir::store::redis
