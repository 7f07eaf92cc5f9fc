// The section `doors` of weir.yaml. Which doors are on, and what is wrong between them: an address that others can
// reach without proof of who they are, one address for two doors, TLS on a unix socket.
#pragma once

#include <filesystem>

#include "policy/problem.h"
#include "policy/yaml/document.h"
#include "server/config.h"

namespace weir::server {

[[nodiscard]] DoorsConfig read_doors(const policy::yaml::Node& node, const std::filesystem::path& folder,
                                     policy::Problems& problems);

}  // namespace weir::server
