// The files that a server is run by: weir.yaml and the policy. Read at the start, and again at every reload.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/problem.h"
#include "policy/ruleset.h"
#include "server/config.h"
#include "server/file_watch.h"

namespace weir::server {

struct Sources {
  std::optional<std::filesystem::path> config_file;
  std::optional<std::filesystem::path> policy_file;  // counts before what weir.yaml says
  Environment environment;
};

struct Loaded {
  std::optional<Config> config;  // none if there is an error in it; then the policy was not looked for
  std::shared_ptr<const policy::Ruleset> ruleset;  // none if there is an error in it
  std::vector<policy::Problem> problems;
  FileWatch watch;  // the files as they were before they were read

  [[nodiscard]] bool complete() const noexcept { return config && ruleset; }
  // The errors, a line each.
  [[nodiscard]] std::string errors() const;
};

[[nodiscard]] Loaded load(const Sources& sources);

}  // namespace weir::server
