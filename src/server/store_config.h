// Where the states of limits live, as `store` of weir.yaml says it: in this process, or in Redis for all nodes alike.
//
// A password that is part of a URL is in here; shown() leaves it out. Files have not been looked at.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/redis/url.h"
#include "weir/time.h"

namespace weir::server {

// Who watches over the servers, and how to talk to them.
struct SentinelConfig {
  std::string master;  // the name that they know it by
  std::string user;
  std::optional<std::filesystem::path> password_file;

  friend bool operator==(const SentinelConfig&, const SentinelConfig&) = default;
};

// None of them: the system's authorities, no certificate of our own, the name that the URL has.
struct RedisTlsConfig {
  std::optional<std::filesystem::path> ca;
  std::optional<std::filesystem::path> certificate;  // with a key, or neither
  std::optional<std::filesystem::path> key;
  std::string server_name;

  friend bool operator==(const RedisTlsConfig&, const RedisTlsConfig&) = default;
};

struct RedisConfig {
  std::vector<store::redis::Url> urls;  // never empty; alike but for their endpoints
  std::optional<SentinelConfig> sentinel;
  std::string user;  // of the URLs, if they have one
  std::optional<std::filesystem::path> password_file;
  RedisTlsConfig tls;
  std::string prefix = "weir:";
  std::optional<std::filesystem::path> key_secret_file;  // none: keys are readable
  Duration timeout = std::chrono::milliseconds(10);

  [[nodiscard]] bool with_tls() const { return urls.front().tls; }

  friend bool operator==(const RedisConfig&, const RedisConfig&) = default;
};

struct StoreConfig {
  std::optional<RedisConfig> redis;  // none: this process

  friend bool operator==(const StoreConfig&, const StoreConfig&) = default;
};

// As it is written, but for its password.
[[nodiscard]] std::string shown(const store::redis::Url& url);

// `redis://weir:*****@10.0.0.1:6379/0, keys weir:*, up to 10 ms a decision`
[[nodiscard]] std::string describe(const StoreConfig& store);

}  // namespace weir::server
