// The script that decides, in the server: decide.lua, which is part of the program.
#pragma once

#include <string_view>

namespace weir::store::redis {

[[nodiscard]] std::string_view script_source() noexcept;

// Its SHA-1 in hexadecimal, as EVALSHA wants it.
[[nodiscard]] std::string_view script_digest() noexcept;

}  // namespace weir::store::redis
