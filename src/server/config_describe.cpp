#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "policy/words.h"
#include "server/config.h"
#include "server/config_scalar.h"

namespace weir::server {
namespace {

using Lines = std::vector<std::string>;

std::string joined(const Lines& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool has_unix_socket(const DoorConfig& door) {
  return std::any_of(door.listen.begin(), door.listen.end(), [](const auto& address) { return address.unix_socket(); });
}

Lines parts_of(const DoorConfig& door, const std::string& origin) {
  Lines parts;
  for (const net::Address& address : door.listen) parts.push_back(address.text());
  parts.back() += " (" + origin + ")";
  if (has_unix_socket(door)) parts.push_back(fmt::format("mode {:04o}", door.unix_mode));
  if (door.tls) parts.emplace_back(door.tls->client_ca.empty() ? "TLS" : "TLS with client certificates");
  if (door.token_file) parts.push_back("token from " + door.token_file->string());
  if (door.exposed) parts.emplace_back("exposed");
  parts.push_back(fmt::format("at most {} connections", door.max_connections));
  return parts;
}

void add_hosts(const std::vector<std::string>& hosts, Lines& parts) {
  if (!hosts.empty()) parts.push_back("hosts " + fmt::format("{}", fmt::join(hosts, " ")));
}

void add_own(const HttpDoorConfig& door, Lines& parts) {
  add_hosts(door.hosts, parts);
  parts.push_back(fmt::format("bodies up to {}", size_text(door.max_body)));
  const bool holds = door.hold_limit > 0 && door.hold_max > Duration::zero();
  parts.push_back(
      holds ? fmt::format("up to {} answers held for up to {}", door.hold_limit, policy::duration_text(door.hold_max))
            : "no answer held");
  if (door.auth_headers != AuthHeaders::automatic) {
    parts.push_back(fmt::format("auth_headers {}", name_of(door.auth_headers)));
  }
}

void add_own(const RlsDoorConfig& door, Lines& parts) {
  parts.push_back(fmt::format("messages up to {}", size_text(door.max_message)));
}

void add_own(const RespDoorConfig& /*door*/, Lines& /*parts*/) {}

void add_own(const AdminDoorConfig& door, Lines& parts) {
  add_hosts(door.hosts, parts);
}

template <class Door>
std::string door_line(std::string_view name, const std::optional<Door>& door, const std::string& origin) {
  if (!door) return fmt::format("{} door: off ({})", name, origin);
  Lines parts = parts_of(*door, origin);
  add_own(*door, parts);
  return fmt::format("{} door: {}", name, joined(parts));
}

std::string state_line(const StateConfig& state) {
  const std::string where = state.directory.empty() ? "no directory" : state.directory.string();
  const std::string snapshots = state.snapshot_every
                                    ? fmt::format("a snapshot every {}", policy::duration_text(*state.snapshot_every))
                                    : std::string("no snapshots");
  return fmt::format("state: {}, up to {} of memory, {}", where, size_text(state.memory), snapshots);
}

std::string fields_line(const FieldsConfig& fields) {
  Lines parts;
  if (fields.choice.current) parts.emplace_back("RateLimit");
  if (fields.choice.x_rate_limit) {
    const bool delta = fields.choice.x_reset == wire::ResetForm::delta;
    parts.push_back(fmt::format("X-RateLimit-* ({})", delta ? "delta" : "epoch"));
  }
  if (fields.choice.older_triple) parts.emplace_back("RateLimit-*");
  const bool jitter = fields.retry_jitter > Duration::zero();
  parts.push_back("Retry-After" +
                  (jitter ? fmt::format(" with up to {} on top", policy::duration_text(fields.retry_jitter)) : ""));
  return "fields: " + joined(parts);
}

std::string log_line(const LogConfig& log) {
  Lines parts{fmt::format("{} to {}", name_of(log.level), log.file ? log.file->string() : "standard error")};
  if (log.denials) {
    const Share sample = log.denials->sample;
    const std::string which =
        sample == Share{} ? "every denial" : fmt::format("{} of {} denials", sample.part, sample.whole);
    parts.push_back(fmt::format("{} up to {} a second", which, log.denials->per_second));
  } else {
    parts.emplace_back("no denials");
  }
  return "log: " + joined(parts);
}

std::string stopping_line(const Config& config) {
  std::string line = "drain: " + policy::duration_text(config.drain);
  if (config.grace > Duration::zero()) line += ", after " + policy::duration_text(config.grace) + " of grace";
  return line;
}

std::string policy_line(const Config& config) {
  const char* const merged = config.merge_domains ? ", domains merged" : "";
  if (!config.policy) return fmt::format("policy: the default one{}", merged);
  return fmt::format("policy: {} ({}){}", config.policy->string(), config.origins.policy, merged);
}

}  // namespace

std::vector<std::string> describe(const Config& config) {
  return {
      policy_line(config),
      door_line("http", config.doors.http, config.origins.http),
      door_line("rls", config.doors.rls, config.origins.rls),
      door_line("resp", config.doors.resp, config.origins.resp),
      door_line("admin", config.doors.admin, config.origins.admin),
      state_line(config.state),
      fields_line(config.fields),
      log_line(config.log),
      "store: " + describe(config.store),
      config.loops ? fmt::format("loops: {}", *config.loops) : "loops: one for each core",
      stopping_line(config),
  };
}

}  // namespace weir::server
