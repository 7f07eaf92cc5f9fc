// What weir.yaml says: where the listeners are, who may use them, where state and log go. Plain values with their
// defaults; what is decided about requests is the policy's. Nothing here has looked at a file but weir.yaml itself:
// that certificates, tokens and the policy can be read is seen at the start.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/tls_context.h"
#include "policy/consistency.h"
#include "store/redis/url.h"
#include "text/yaml/problem.h"
#include "weir/time.h"
#include "wire/fields/answer_fields.h"

namespace weir::server {

// The variables that count, as the caller found them; empty: not set.
struct Environment {
  std::string state_directory{};  // STATE_DIRECTORY, as systemd sets it: the first of several counts
  std::string xdg_state_home{};   // XDG_STATE_HOME
  std::string home{};             // HOME
  std::string config{};           // WEIR_CONFIG
  std::string policy{};           // WEIR_POLICY
};

// Which headers of a forward-auth request carry the request that is to be decided.
enum class AuthHeaders : std::uint8_t {
  automatic,  // whichever are there; if several are, they have to agree
  original,   // X-Original-*
  forwarded,  // X-Forwarded-*
  path,       // none: what follows /v1/auth
};

// One type for all protocols: fields that a protocol does not have keep their defaults.
struct ListenerConfig {
  std::vector<net::Address> listen;  // never empty
  std::optional<net::TlsFiles> tls;
  std::optional<std::filesystem::path> token_file;
  bool exposed = false;  // meant to be reachable by others without certificate or token
  std::size_t max_connections = 10'000;
  mode_t unix_mode = 0660;

  std::vector<std::string> hosts;  // http, admin: beyond addresses and localhost; `*` is any

  Duration max_delay = std::chrono::seconds(5);  // this and the next three: http
  std::size_t max_delayed = 1'000;
  AuthHeaders auth_headers = AuthHeaders::automatic;
  std::size_t max_body = std::size_t{1} << 20;

  std::size_t max_message = std::size_t{1} << 20;  // rls
};

struct Listener {
  std::string name;                      // http, rls, resp, admin
  std::optional<ListenerConfig> config;  // none: it is off
  std::string origin = "default";        // who said where it listens: `default`, a file, `--http`
};

// One for each protocol, all on, on loopback: server/protocols.cpp has the list.
[[nodiscard]] std::vector<Listener> default_listeners();

struct StateConfig {
  std::filesystem::path directory;  // empty: nothing says where
  bool is_named = false;            // by weir.yaml, not by the environment
  std::size_t memory = std::size_t{256} << 20;
  std::optional<Duration> snapshot_every;  // none: no snapshots
};

struct FieldsConfig {
  FieldChoice choice;
  Duration retry_jitter{};
};

enum class LogLevel : std::uint8_t { error, warning, info, debug };

// So many of so many, in lowest terms.
struct Share {
  std::uint32_t part = 1;
  std::uint32_t whole = 1;

  friend bool operator==(const Share&, const Share&) = default;
};

struct DenialLogConfig {
  Share sample;
  std::uint64_t per_second = 100;

  friend bool operator==(const DenialLogConfig&, const DenialLogConfig&) = default;
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  std::optional<DenialLogConfig> denials = DenialLogConfig{};  // none: denials are not logged
  std::optional<std::filesystem::path> file;                   // none: standard error
  std::optional<std::filesystem::path> hash_key_file;          // none: a key of its own in the state directory

  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct SentinelConfig {
  std::string master;  // the name that the sentinels know it by
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

// A password that is part of a URL is in here; shown() leaves it out.
struct RedisConfig {
  std::vector<store::redis::Url> urls;  // never empty; alike but for their endpoints
  std::optional<SentinelConfig> sentinel;
  std::string user;  // of the URLs, if they have one
  std::optional<std::filesystem::path> password_file;
  RedisTlsConfig tls;
  std::string prefix = "weir:";
  std::optional<std::filesystem::path> key_secret_file;  // none: keys are readable
  Duration timeout = std::chrono::milliseconds(10);
  Duration startup_timeout = std::chrono::seconds(3);  // requests wait for the first connection until then
  std::uint64_t nodes = policy::default_nodes;         // that share the store, at most: until they are counted
  std::uint64_t max_new_keys = 0;                      // of a limit, in a second, on each node; 0: no bound
  std::string node_name;                               // of this one; empty: the host's, and a random part

  [[nodiscard]] bool with_tls() const { return urls.front().tls; }

  friend bool operator==(const RedisConfig&, const RedisConfig&) = default;
};

struct StoreConfig {
  std::optional<RedisConfig> redis;  // none: this process

  friend bool operator==(const StoreConfig&, const StoreConfig&) = default;
};

struct ReceiptsConfig {
  std::optional<std::filesystem::path> key_file;  // none: a key of its own in the state directory
};

struct Config {
  std::optional<std::filesystem::path> policy;  // none: the default policy
  std::string policy_origin = "default";        // who named it: `default`, a file, `--policy`, `WEIR_POLICY`
  bool merge_domains = false;                   // whether files of a policy's directory may be for one domain
  std::vector<std::string> charge_all;          // the domains whose denied calls charge all descriptors
  std::vector<Listener> listeners = default_listeners();
  StateConfig state;
  FieldsConfig fields;
  LogConfig log;
  StoreConfig store;
  ReceiptsConfig receipts;
  std::optional<std::uint64_t> loops;  // none: one for each core
  Duration grace = Duration::zero();   // the listeners stay open for as long after the signal to stop
  Duration drain = std::chrono::seconds(10);

  // Null: it is off.
  [[nodiscard]] const ListenerConfig* listener(std::string_view name) const;
  [[nodiscard]] ListenerConfig* listener(std::string_view name);
};

// What holds without a file.
[[nodiscard]] Config default_config(const Environment& environment);

struct LoadedConfig {
  std::optional<Config> config;         // none if there is an error
  std::vector<text::Problem> problems;  // errors and warnings, in the order of their places
};

// weir.yaml -> Config, or every mistake in it at its place.
[[nodiscard]] LoadedConfig load_config(const std::filesystem::path& path, const Environment& environment);

// `file` is the name that the problems carry; paths in the text are relative to its folder.
[[nodiscard]] LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& file,
                                            const Environment& environment);

// What a server would do, a line for each subject: for --check.
[[nodiscard]] std::vector<std::string> describe(const Config& config);

// Names what a server that began with `before` does not follow without a restart (`listeners.http`, `state`), in
// `after`. Single fields are put back to what they were; sections are the caller's to keep.
[[nodiscard]] std::vector<std::string> hold_back(const Config& before, Config& after);

// The JSON Schema (draft 2020-12) of weir.yaml, for editors.
[[nodiscard]] std::string config_schema();

// As it is written, but for its password.
[[nodiscard]] std::string shown(const store::redis::Url& url);

}  // namespace weir::server
