// The section `store` of weir.yaml: which store, and what is wrong between its fields: two passwords for one server,
// TLS files without TLS, servers that cannot belong together.
#pragma once

#include <filesystem>

#include "policy/problem.h"
#include "policy/yaml/document.h"
#include "server/store_config.h"

namespace weir::server {

[[nodiscard]] StoreConfig read_store(const policy::yaml::Node& node, const std::filesystem::path& folder,
                                     policy::Problems& problems);

}  // namespace weir::server
