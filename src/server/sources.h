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
#include "server/door_flags.h"
#include "server/file_watch.h"

namespace weir::server {

struct Sources {
  std::optional<std::filesystem::path> config_file;
  std::optional<std::filesystem::path> policy_file;  // counts before what weir.yaml says
  Environment environment;
  DoorFlags doors{};  // likewise
};

// weir.yaml by the flag, by the environment (WEIR_CONFIG), or where the service has it, if there is one.
struct FoundConfig {
  std::optional<std::filesystem::path> file;  // none: all defaults hold
  std::string origin;                         // `--config`, `WEIR_CONFIG`, `default`
};
inline constexpr auto service_config = "/etc/weir/weir.yaml";
[[nodiscard]] FoundConfig find_config(const std::optional<std::filesystem::path>& flag, const Environment& environment);

struct Loaded {
  std::optional<Config> config;  // none if there is an error in it; then the policy was not looked for
  std::shared_ptr<const policy::Ruleset> ruleset;  // none if there is an error in it
  std::vector<policy::Problem> problems;
  std::optional<Error> flag_error;  // of the flags beside what weir.yaml says; then there is no configuration
  FileWatch watch;                  // the files as they were before they were read

  std::string config_line{};  // which weir.yaml it was, for --check

  [[nodiscard]] bool complete() const noexcept { return config && ruleset; }
  // The errors, a line each.
  [[nodiscard]] std::string errors() const;
};

[[nodiscard]] Loaded load(const Sources& sources);

}  // namespace weir::server
