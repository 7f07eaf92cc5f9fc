// The key numbers to decide for, in order, as written by table_workload: 32-bit, little-endian.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "weir/result.h"

namespace bench::table {

weir::Result<std::vector<std::uint32_t>> read_key_sequence(const std::filesystem::path& path);

}  // namespace bench::table
