// The configuration of the server on this machine, as the commands beside it find it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "policy/consistency.h"
#include "server/config.h"
#include "weir/result.h"

namespace weir::app {

// What the program takes from its environment.
[[nodiscard]] server::Environment environment();

// The weir.yaml that `flag` names, or else the one that weir serve would read, or the defaults. An error if there is a
// mistake in the file.
[[nodiscard]] Result<server::Config> server_config(const std::string& flag);

// How many nodes share a store, and who says so.
struct NodeCount {
  std::uint64_t nodes = policy::default_nodes;
  std::string origin = "by default";  // or `by weir.yaml`
  bool is_shared = false;             // by weir.yaml
};

// By store.redis.nodes of the weir.yaml that `flag` names; without a flag, or without Redis in that file, by default.
// An error if there is a mistake in the file.
[[nodiscard]] Result<NodeCount> node_count(const std::string& flag);

// Where a server with this configuration keeps its secrets: what weir.yaml names, or the environment, or else where the
// service has them. Empty: nothing says where.
[[nodiscard]] std::filesystem::path secrets_directory(const server::Config& config);

// Where the key is that the server's log hashes consumers by.
[[nodiscard]] Result<std::filesystem::path> hash_key_file_by(const server::Config& config);

}  // namespace weir::app
