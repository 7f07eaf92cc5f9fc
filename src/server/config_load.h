// weir.yaml -> Config, or every mistake in it at its place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/problem.h"
#include "server/config.h"

namespace weir::server {

struct LoadedConfig {
  std::optional<Config> config;           // none if there is an error
  std::vector<policy::Problem> problems;  // errors and warnings, in the order of their places
};

[[nodiscard]] LoadedConfig load_config(const std::filesystem::path& path, const Environment& environment);

// `file` is the name that the problems carry; paths in the text are relative to its folder.
[[nodiscard]] LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& file,
                                            const Environment& environment);

}  // namespace weir::server
