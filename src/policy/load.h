// Text -> Ruleset. The one way in for all three formats: policy.yaml, OpenAPI with x-rate-limit, and the files of
// envoyproxy/ratelimit. Which it is, the text says (`openapi:`, `domain:`).
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
  std::shared_ptr<const Ruleset> ruleset;  // none if there is an error
  std::vector<Problem> problems;           // errors, and warnings (lint.h), in the order of their places
};

struct LoadOptions {
  bool merge_domains = false;  // whether files of a directory may be for one domain: its descriptors are those of all
  std::uint64_t nodes = default_nodes;  // that share the store: some warnings depend on it
  // Domains whose denied calls charge all of their descriptors. A name that the policy does not have changes nothing.
  std::vector<std::string> charge_all{};
};

// `file` is the name that the problems carry.
[[nodiscard]] Loaded load_text(std::string_view text, std::string file, const LoadOptions& options = {});

// A file, or a directory of envoyproxy/ratelimit's.
[[nodiscard]] Loaded load_path(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace weir::policy
