// The configuration in weir.yaml: listeners and access control, state, log and store, as plain values with defaults.
// Limits are in the policy. Loading reads weir.yaml only: the certificates, tokens and policy that it names are read
// when the server starts.
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

// Environment variables, read by the caller. An empty value is unset.
struct Environment {
  std::string state_directory{};  // STATE_DIRECTORY, set by systemd; the first of several is used
  std::string xdg_state_home{};   // XDG_STATE_HOME
  std::string home{};             // HOME
  std::string config{};           // WEIR_CONFIG
  std::string policy{};           // WEIR_POLICY
};

// The headers of a forward-auth request that carry the request to decide.
enum class AuthHeaders : std::uint8_t {
  automatic,  // any of them; if several are present, they must agree
  original,   // X-Original-*
  forwarded,  // X-Forwarded-*
  path,       // none: the path after /v1/auth
};

// The settings of a listener of any protocol. Fields that a protocol does not have keep their defaults.
struct ListenerConfig {
  std::vector<net::Address> listen;  // never empty
  std::optional<net::TlsFiles> tls;
  std::optional<std::filesystem::path> token_file;
  bool exposed = false;  // allows unauthenticated access from other hosts
  std::size_t max_connections = 10'000;
  mode_t unix_mode = 0660;

  std::vector<std::string>
      hosts;  // http and admin: accepted host names besides addresses and localhost; `*` accepts any

  Duration max_delay = std::chrono::seconds(5);  // this and the next three apply to http only
  std::size_t max_delayed = 1'000;
  AuthHeaders auth_headers = AuthHeaders::automatic;
  std::size_t max_body = std::size_t{1} << 20;

  std::size_t max_message = std::size_t{1} << 20;  // applies to rls only
};

struct Listener {
  std::string name;                      // http, rls, resp, admin
  std::optional<ListenerConfig> config;  // none: off
  std::string origin = "default";        // source of its address: `default`, a file, `--http`
};

// Returns one listener for each protocol, all on loopback. server/protocols.cpp lists the protocols.
[[nodiscard]] std::vector<Listener> default_listeners();

struct StateConfig {
  std::filesystem::path directory;  // empty: none
  bool is_named = false;            // set by weir.yaml rather than by the environment
  std::size_t memory = std::size_t{256} << 20;
  std::optional<Duration> snapshot_every;  // none: no snapshots
};

struct FieldsConfig {
  FieldChoice choice;
  Duration retry_jitter{};
};

enum class LogLevel : std::uint8_t { error, warning, info, debug };

// The fraction `part` / `whole`, in lowest terms.
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
  std::optional<std::filesystem::path> hash_key_file;          // none: this node's own key in the state directory

  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct SentinelConfig {
  std::string master;  // the name by which the sentinels know the master
  std::string user;
  std::optional<std::filesystem::path> password_file;

  friend bool operator==(const SentinelConfig&, const SentinelConfig&) = default;
};

// The defaults are the system's certificate authorities, no client certificate and the host name of the URL.
struct RedisTlsConfig {
  std::optional<std::filesystem::path> ca;
  std::optional<std::filesystem::path> certificate;  // set together with a key, or not at all
  std::optional<std::filesystem::path> key;
  std::string server_name;

  friend bool operator==(const RedisTlsConfig&, const RedisTlsConfig&) = default;
};

// May contain a password as part of a URL. shown() omits it.
struct RedisConfig {
  std::vector<store::redis::Url> urls;  // never empty; they differ only in their endpoints
  std::optional<SentinelConfig> sentinel;
  std::string user;  // used if the URLs have none
  std::optional<std::filesystem::path> password_file;
  RedisTlsConfig tls;
  std::string prefix = "weir:";
  std::optional<std::filesystem::path> key_secret_file;  // none: keys are readable
  Duration timeout = std::chrono::milliseconds(10);
  Duration startup_timeout = std::chrono::seconds(3);  // requests wait for the first connection until then
  std::uint64_t nodes = policy::default_nodes;  // assumed number of nodes that share the store, until they are counted
  std::uint64_t max_new_keys = 0;               // maximum per limit and second on this node; 0: no bound
  std::string node_name;                        // empty: the host name and a random part

  [[nodiscard]] bool with_tls() const { return urls.front().tls; }

  friend bool operator==(const RedisConfig&, const RedisConfig&) = default;
};

struct StoreConfig {
  std::optional<RedisConfig> redis;  // none: the states are local to this process

  friend bool operator==(const StoreConfig&, const StoreConfig&) = default;
};

struct ReceiptsConfig {
  std::optional<std::filesystem::path> key_file;  // none: this node's own key in the state directory
};

struct Config {
  std::optional<std::filesystem::path> policy;  // none: the default policy
  std::string policy_origin = "default";        // source: `default`, a file, `--policy`, `WEIR_POLICY`
  bool merge_domains = false;                   // whether several files of a directory may define one domain
  std::vector<std::string> charge_all;          // the domains whose denied calls charge all descriptors
  std::vector<Listener> listeners = default_listeners();
  StateConfig state;
  FieldsConfig fields;
  LogConfig log;
  StoreConfig store;
  ReceiptsConfig receipts;
  std::optional<std::uint64_t> loops;  // none: one per core
  Duration grace = Duration::zero();   // how long the listeners stay open after SIGTERM
  Duration drain = std::chrono::seconds(10);

  // Returns null if the listener is off.
  [[nodiscard]] const ListenerConfig* listener(std::string_view name) const;
  [[nodiscard]] ListenerConfig* listener(std::string_view name);
};

// Returns the configuration that applies without a file.
[[nodiscard]] Config default_config(const Environment& environment);

struct LoadedConfig {
  std::optional<Config> config;         // none if there is an error
  std::vector<text::Problem> problems;  // errors and warnings, by position
};

// Loads weir.yaml, or reports every error in it with its position.
[[nodiscard]] LoadedConfig load_config(const std::filesystem::path& path, const Environment& environment);

// `file` is the name in problems. Paths in the text are relative to its folder.
[[nodiscard]] LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& file,
                                            const Environment& environment);

// Returns the lines of --check, one per subject.
[[nodiscard]] std::vector<std::string> describe(const Config& config);

// Returns the changes in `after` that require a restart (`listeners.http`, `state`). Single fields are restored to
// their values in `before`; the caller keeps the old sections.
[[nodiscard]] std::vector<std::string> restart_required(const Config& before, Config& after);

// Returns the JSON Schema (draft 2020-12) of weir.yaml, for editors.
[[nodiscard]] std::string config_schema();

// Returns the URL with its password masked.
[[nodiscard]] std::string shown(const store::redis::Url& url);

}  // namespace weir::server
