// The numbers of the keys to decide for, in order, as table_workload wrote them: 32-bit, little endian.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "weir/result.h"

namespace bench::table {

weir::Result<std::vector<std::uint32_t>> read_key_sequence(const std::filesystem::path& path);

}  // namespace bench::table
