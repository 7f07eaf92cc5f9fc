// The secret that consumers are named by, kept in a file so that a name means the same after a restart.
#pragma once

#include <string>

#include "table/hash_key.h"
#include "weir/result.h"

namespace weir::observe {

// Where it is, in the state directory, unless somebody says otherwise.
inline constexpr auto hash_key_file = "log.key";

// 32 hexadecimal digits, for the owner's eyes only. Made of random numbers if the file is not there.
[[nodiscard]] Result<table::HashKey> open_hash_key(const std::string& path);

}  // namespace weir::observe
