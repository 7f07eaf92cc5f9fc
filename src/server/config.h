// What weir.yaml says: where the doors are, who may use them, where state and log go. Plain values with their
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
#include "server/store_config.h"
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

struct DoorConfig {
  std::vector<net::Address> listen;  // never empty
  std::optional<net::TlsFiles> tls;
  std::optional<std::filesystem::path> token_file;
  bool exposed = false;  // meant to be reachable by others without certificate or token
  std::size_t max_connections = 10'000;
  mode_t unix_mode = 0660;
};

// Which headers of a forward-auth request carry the request that is asked about.
enum class AuthHeaders : std::uint8_t {
  automatic,  // whichever are there; if several are, they have to agree
  original,   // X-Original-*
  forwarded,  // X-Forwarded-*
  path,       // none: what follows /v1/auth
};

[[nodiscard]] std::string_view name_of(AuthHeaders headers) noexcept;

struct HttpDoorConfig : DoorConfig {
  std::vector<std::string> hosts;  // beyond addresses and localhost; `*` is any
  Duration hold_max = std::chrono::seconds(5);
  std::size_t hold_limit = 1'000;
  AuthHeaders auth_headers = AuthHeaders::automatic;
  std::size_t max_body = std::size_t{1} << 20;
};

struct RlsDoorConfig : DoorConfig {
  std::size_t max_message = std::size_t{1} << 20;
};

struct RespDoorConfig : DoorConfig {};

struct AdminDoorConfig : DoorConfig {
  std::vector<std::string> hosts;
};

// None: that door is off.
struct DoorsConfig {
  std::optional<HttpDoorConfig> http;
  std::optional<RlsDoorConfig> rls;
  std::optional<RespDoorConfig> resp;
  std::optional<AdminDoorConfig> admin;

  [[nodiscard]] static DoorsConfig defaults();  // all on, on loopback
};

struct StateConfig {
  std::filesystem::path directory;  // empty: nothing says where
  bool is_named = false;            // by weir.yaml, not by the environment
  std::size_t memory = std::size_t{256} << 20;
  std::optional<Duration> snapshot_every;  // none: no snapshots
};

struct FieldsConfig {
  wire::FieldChoice choice;
  Duration retry_jitter{};
};

enum class LogLevel : std::uint8_t { error, warning, info, debug };

[[nodiscard]] std::string_view name_of(LogLevel level) noexcept;

// So many of so many, in lowest terms.
struct Share {
  std::uint32_t part = 1;
  std::uint32_t whole = 1;

  friend bool operator==(const Share&, const Share&) = default;
};

struct DenialLogConfig {
  Share sample;
  std::uint32_t per_second = 100;

  friend bool operator==(const DenialLogConfig&, const DenialLogConfig&) = default;
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  std::optional<DenialLogConfig> denials = DenialLogConfig{};  // none: denials are not logged
  std::optional<std::filesystem::path> file;                   // none: standard error
  std::optional<std::filesystem::path> hash_key_file;          // none: a key of its own in the state directory
};

// Where what counts was said: `default`, `weir.yaml`, `--http`, `WEIR_POLICY`.
struct Origins {
  std::string policy = "default";
  std::string http = "default";
  std::string rls = "default";
  std::string resp = "default";
  std::string admin = "default";
};

struct Config {
  std::optional<std::filesystem::path> policy;  // none: the default policy
  bool merge_domains = false;                   // whether files of a policy's directory may be for one domain
  DoorsConfig doors = DoorsConfig::defaults();
  StateConfig state;
  FieldsConfig fields;
  LogConfig log;
  StoreConfig store;
  std::optional<unsigned> loops;      // none: one for each core
  Duration grace = Duration::zero();  // the doors stay open for as long after the call to stop
  Duration drain = std::chrono::seconds(10);
  Origins origins;
};

// What holds without a file.
[[nodiscard]] Config default_config(const Environment& environment);

// What it would do, a line for each subject: for the start, and for --check.
[[nodiscard]] std::vector<std::string> describe(const Config& config);

}  // namespace weir::server
