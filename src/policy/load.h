// Loads a policy in any of the three formats: policy.yaml, OpenAPI with x-rate-limit (`openapi:`), and the files of
// envoyproxy/ratelimit (`domain:`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/consistency.h"
#include "policy/ruleset.h"

namespace weir::policy {

struct Loaded {
  std::shared_ptr<const Ruleset> ruleset;  // null after an error
  std::vector<Problem> problems;           // errors and warnings (lint.h), by position
};

struct LoadOptions {
  bool merge_domains = false;           // true if several files of a directory may define one domain
  std::uint64_t nodes = default_nodes;  // number of nodes that share the store; some warnings depend on it
  // Domains whose denied calls charge all of their descriptors. Unknown names are ignored.
  std::vector<std::string> charge_all{};
};

// `file` is the name in the problems.
[[nodiscard]] Loaded load_text(std::string_view text, std::string file, const LoadOptions& options = {});

// Loads a file, or a directory of envoyproxy/ratelimit files.
[[nodiscard]] Loaded load_path(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace weir::policy
