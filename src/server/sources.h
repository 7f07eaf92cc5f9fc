// The configuration files of a server, weir.yaml and the policy. They are read at startup and at every reload.
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

// The policy that is used if none is named: one generous limit, to try the server with.
inline constexpr std::string_view default_policy = R"(version: 1

limits:
  - name: by-caller
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 100/min
    burst: 20
)";

// Detects changed files by their metadata (device, inode, size, modification time). Follows links, so it does not
// matter how a file was replaced. A directory changes with any of the files in it.
class FileWatch {
 public:
  FileWatch() = default;
  explicit FileWatch(const std::vector<std::filesystem::path>& files) { add(files); }

  // Watches the files from now on.
  void add(const std::vector<std::filesystem::path>& files);

  // Returns true once per change. A missing file does not count as a change: it may be about to be replaced.
  [[nodiscard]] bool changed();

 private:
  struct Watched {
    std::filesystem::path file;
    std::string seen;  // metadata; empty: the file was missing
  };

  std::vector<Watched> files_;
};

struct Sources {
  std::optional<std::filesystem::path> config_file;
  std::optional<std::filesystem::path> policy_file;  // overrides weir.yaml
  Environment environment;
  ListenerFlags listeners{};  // overrides weir.yaml
};

// The path of weir.yaml: from the flag, from WEIR_CONFIG, or the service's own file if it exists.
struct FoundConfig {
  std::optional<std::filesystem::path> file;  // none: all defaults apply
  std::string origin;                         // `--config`, `WEIR_CONFIG`, `default`
};
inline constexpr auto service_config = "/etc/weir/weir.yaml";
[[nodiscard]] FoundConfig find_config(const std::optional<std::filesystem::path>& flag, const Environment& environment);

struct Loaded {
  std::optional<Config> config;                    // none if it has an error; then the policy was not read
  std::shared_ptr<const policy::Ruleset> ruleset;  // null if it has an error
  std::vector<text::Problem> problems;
  std::optional<Error> flag_error;  // flags that conflict with weir.yaml; then there is no config
  FileWatch watch;                  // metadata from before the files were read

  std::string config_line{};  // names the weir.yaml, for --check

  [[nodiscard]] bool complete() const noexcept { return config && ruleset; }
  // Returns the errors, one per line.
  [[nodiscard]] std::string errors() const;
};

[[nodiscard]] Loaded load(const Sources& sources);

}  // namespace weir::server
