// The tree of weir.yaml -> Config. What the file does not say stays as `config` has it.
#pragma once

#include <filesystem>

#include "policy/problem.h"
#include "policy/yaml/document.h"
#include "server/config.h"

namespace weir::server {

// `folder` is where relative paths begin.
[[nodiscard]] Config read_config(const policy::yaml::Node& root, const std::filesystem::path& folder, Config config,
                                 policy::Problems& problems);

}  // namespace weir::server
