// The configuration of the server on this host, for the other commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "policy/consistency.h"
#include "server/config.h"
#include "weir/result.h"

namespace weir::app {

// Returns the environment variables that the program uses.
[[nodiscard]] server::Environment environment();

// Loads the weir.yaml that `flag` names, or the one that weir serve would read, or the defaults.
[[nodiscard]] Result<server::Config> server_config(const std::string& flag);

// The number of nodes that share a store, and its source.
struct NodeCount {
  std::uint64_t nodes = policy::default_nodes;
  std::string origin = "by default";  // the source: `by default` or `by weir.yaml`
  bool is_shared = false;             // whether weir.yaml has a shared store
};

// Returns store.redis.nodes of the weir.yaml that `flag` names, or the default without a flag or without Redis in that
// file.
[[nodiscard]] Result<NodeCount> node_count(const std::string& flag);

// Returns the directory of the server's secrets: from weir.yaml, from the environment, or that of the service. May be
// empty.
[[nodiscard]] std::filesystem::path secrets_directory(const server::Config& config);

// Returns the key file of the consumer hashes in the server's log.
[[nodiscard]] Result<std::filesystem::path> hash_key_file_by(const server::Config& config);

}  // namespace weir::app
