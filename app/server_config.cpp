#include "app/server_config.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "observe/consumer_names.h"
#include "server/config.h"
#include "server/secrets.h"
#include "server/sources.h"
#include "text/yaml/problem.h"

namespace weir::app {

server::Environment environment() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
    return value == nullptr ? "" : value;
  };
  return {variable("STATE_DIRECTORY"), variable("XDG_STATE_HOME"), variable("HOME"), variable("WEIR_CONFIG"),
          variable("WEIR_POLICY")};
}

Result<server::Config> server_config(const std::string& flag) {
  const auto named = flag.empty() ? std::nullopt : std::optional<std::filesystem::path>(flag);
  const auto found = server::find_config(named, environment());
  if (!found.file) return server::default_config(environment());
  auto loaded = server::load_config(*found.file, environment());
  if (loaded.config) return *std::move(loaded.config);
  for (const text::Problem& problem : loaded.problems) {
    if (problem.severity != text::Severity::error) continue;
    return failure(problem.file, fmt::format("{}:{}: {}; use --config FILE for another file", problem.at.line,
                                             problem.at.column, problem.message));
  }
  return failure(found.file->string(), "cannot be read");
}

Result<NodeCount> node_count(const std::string& flag) {
  if (flag.empty()) return NodeCount{};
  const auto config = server_config(flag);
  if (!config) return tl::unexpected<Error>(config.error());
  if (!config->store.redis) return NodeCount{};
  return NodeCount{config->store.redis->nodes, "by " + flag, true};
}

std::filesystem::path secrets_directory(const server::Config& config) {
  constexpr auto service_state = "/var/lib/weir";
  const std::filesystem::path& directory = config.state.directory;
  if (config.state.is_named || !environment().state_directory.empty()) return directory;
  std::error_code error;
  const bool has_own = !directory.empty() && std::filesystem::exists(directory / server::admin_token_file, error);
  const bool has_service =
      std::filesystem::exists(std::filesystem::path(service_state) / server::admin_token_file, error);
  return !has_own && has_service ? service_state : directory;
}

Result<std::filesystem::path> hash_key_file_by(const server::Config& config) {
  if (config.log.hash_key_file) return *config.log.hash_key_file;
  const std::filesystem::path directory = secrets_directory(config);
  if (!directory.empty()) return directory / observe::hash_key_file;
  return failure("HOME", "not set, so there is no state directory; use --key-file FILE");
}

}  // namespace weir::app
