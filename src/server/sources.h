// The files that a server is run by: weir.yaml and the policy. Read at the start, and again at every reload.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/ruleset.h"
#include "server/config.h"
#include "server/listeners.h"
#include "text/yaml/problem.h"

namespace weir::server {

// In force where no policy is named: enough to try everything, with a limit that disturbs nobody.
inline constexpr std::string_view default_policy = R"(version: 1

limits:
  - name: by-caller
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 100/min
    burst: 20
)";

// Whether files have changed since they were last looked at: by what the system says of them, links followed, so that
// it does not matter how a file was replaced. A directory changes with any of the files in it.
class FileWatch {
 public:
  FileWatch() = default;
  explicit FileWatch(const std::vector<std::filesystem::path>& files) { add(files); }

  // Watched from now on.
  void add(const std::vector<std::filesystem::path>& files);

  // True once after a change. A file that is not there now has not changed: it may be in the middle of being replaced.
  [[nodiscard]] bool changed();

 private:
  struct Watched {
    std::filesystem::path file;
    std::string seen;  // what identifies its contents; empty: it was not there
  };

  std::vector<Watched> files_;
};

struct Sources {
  std::optional<std::filesystem::path> config_file;
  std::optional<std::filesystem::path> policy_file;  // counts before what weir.yaml says
  Environment environment;
  ListenerFlags listeners{};  // likewise
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
  std::vector<text::Problem> problems;
  std::optional<Error> flag_error;  // of the flags beside what weir.yaml says; then there is no configuration
  FileWatch watch;                  // the files as they were before they were read

  std::string config_line{};  // which weir.yaml it was, for --check

  [[nodiscard]] bool complete() const noexcept { return config && ruleset; }
  // The errors, a line each.
  [[nodiscard]] std::string errors() const;
};

[[nodiscard]] Loaded load(const Sources& sources);

}  // namespace weir::server
