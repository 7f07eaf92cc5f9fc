#include "server/config_doors.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "policy/map_reader.h"
#include "server/config_overlap.h"
#include "server/config_scalar.h"
#include "server/config_values.h"

namespace weir::server {
namespace {

using policy::Form;
using policy::MapReader;
using policy::Problems;
using std::chrono::minutes;

constexpr policy::Bounds connection_bounds{.least = 1, .most = 1'000'000};
constexpr policy::Bounds hold_bounds{.least = 0, .most = 1'000'000};
constexpr TimeBounds hold_times{.least = Duration::zero(), .most = minutes(10)};
constexpr SizeBounds body_bounds{.least = std::size_t{1} << 10, .most = std::size_t{64} << 20};
constexpr SizeBounds message_bounds{.least = std::size_t{1} << 10, .most = std::size_t{16} << 20};

std::optional<net::TlsFiles> read_tls(const policy::yaml::Node& node, const std::filesystem::path& folder,
                                      Problems& problems) {
  MapReader map(node, "tls", problems);
  (void)map.require("certificate");
  (void)map.require("key");
  std::optional<std::filesystem::path> certificate;
  std::optional<std::filesystem::path> key;
  std::optional<std::filesystem::path> client_ca;
  read_path(map, "certificate", folder, certificate);
  read_path(map, "key", folder, key);
  read_path(map, "client_ca", folder, client_ca);
  map.finish();
  if (!certificate || !key) return {};
  return net::TlsFiles{certificate->string(), key->string(), client_ca ? client_ca->string() : ""};
}

// Without quotes, others who read the file take it for a number, and not all for the same.
void read_unix_mode(MapReader& map, mode_t& mode) {
  const policy::yaml::Node* node = map.find("unix_mode");
  if (node != nullptr && node->is_scalar() && !node->quoted) {
    map.problems().error(node->at,
                         fmt::format("unix_mode {}: write it in quotes, like \"0660\"", policy::quoted(node->text)));
  } else if (node != nullptr) {
    const auto read = policy::read_value(*node, "unix_mode", Form::text, parse_mode, map.problems());
    if (read) mode = read->value;
  }
}

void check_unix_mode(const policy::yaml::Node* mode, const policy::yaml::Node* listen, Problems& problems) {
  const auto is_unix = [](const policy::yaml::Node& address) { return address.text.starts_with("unix:"); };
  const bool any_unix = listen != nullptr && (is_unix(*listen) || std::ranges::any_of(listen->items, is_unix));
  if (mode != nullptr && !any_unix) problems.error(mode->at, "unix_mode is for unix sockets, and listen has none");
}

void read_hosts(MapReader& map, std::vector<std::string>& hosts) {
  const policy::yaml::Node* node = map.find("hosts");
  if (node == nullptr) return;
  read_one_or_more(*node, "hosts", map.problems(), [&](const policy::yaml::Node& one, std::string_view text) {
    auto host = parse_host(text);
    if (!host) return policy::report(host.error(), "hosts", one.at, map.problems());
    hosts.push_back(*std::move(host));
  });
}

// What a door is guarded by, as far as it is written, be it right or wrong: one mistake is said once.
struct Guards {
  bool tls = false;
  bool client_ca = false;
  bool token = false;
  bool exposed = false;
};

// Who is there has to be known, or declared to be of no account, before others can reach the door.
void check_address(const net::Address& address, policy::Mark at, Guards guards, Problems& problems) {
  const std::string text = policy::quoted(address.text());
  if (address.unix_socket() && guards.tls) {
    problems.error(at, fmt::format("listen {}: a unix socket has no TLS: leave out the one or the other", text));
  }
  if (address.local()) return;
  if (!guards.client_ca && !guards.token && !guards.exposed) {
    problems.error(at, fmt::format("listen {}: others can reach this address: add client_ca to tls (client "
                                   "certificates), a token_file, or exposed: true if that is meant",
                                   text));
  } else if (guards.token && !guards.tls) {
    problems.warning(at, fmt::format("listen {}: the token is sent in the clear: add tls", text));
  }
}

void read_listen(const policy::yaml::Node& node, std::string_view name, Guards guards, DoorConfig& door,
                 Listenings& listenings, Problems& problems) {
  door.listen.clear();
  read_one_or_more(node, "listen", problems, [&](const policy::yaml::Node& one, std::string_view text) {
    const auto address = parse_listen(text);
    if (!address) return policy::report(address.error(), "listen", one.at, problems);
    check_address(*address, one.at, guards, problems);
    listenings.add(name, *address, one.at);
    door.listen.push_back(*address);
  });
}

// What every door has. The addresses come last: what is right for them depends on the rest.
void read_common(MapReader& map, std::string_view name, const std::filesystem::path& folder, DoorConfig& door,
                 Listenings& listenings) {
  const policy::yaml::Node* listen = map.find("listen");
  const policy::yaml::Node* tls = map.find("tls");
  if (tls != nullptr) door.tls = read_tls(*tls, folder, map.problems());
  const policy::yaml::Node* token = map.find("token_file");
  read_path(map, "token_file", folder, door.token_file);
  read_truth(map, "exposed", door.exposed);
  if (const auto most = map.whole("max_connections", connection_bounds)) door.max_connections = most->value;
  read_unix_mode(map, door.unix_mode);
  check_unix_mode(map.find("unix_mode"), listen, map.problems());
  if (listen == nullptr) return listenings.add_default(name, door.listen.front());
  const Guards guards{.tls = tls != nullptr,
                      .client_ca = tls != nullptr && tls->find("client_ca") != nullptr,
                      .token = token != nullptr,
                      .exposed = door.exposed};
  read_listen(*listen, name, guards, door, listenings, map.problems());
}

void read_more(MapReader& map, HttpDoorConfig& door) {
  read_hosts(map, door.hosts);
  read_time(map, "hold_max", hold_times, door.hold_max);
  if (const auto most = map.whole("hold_limit", hold_bounds)) door.hold_limit = most->value;
  if (const auto headers = map.choice("auth_headers", AuthHeaders::path)) door.auth_headers = headers->value;
  read_size(map, "max_body", body_bounds, door.max_body);
}

void read_more(MapReader& map, RlsDoorConfig& door) {
  read_size(map, "max_message", message_bounds, door.max_message);
}

void read_more(MapReader& /*map*/, RespDoorConfig& /*door*/) {}

void read_more(MapReader& map, AdminDoorConfig& door) {
  read_hosts(map, door.hosts);
}

template <class Door>
void read_door(MapReader& doors, std::string_view name, const std::filesystem::path& folder, std::optional<Door>& door,
               Listenings& listenings) {
  const Switch written = read_switch(doors, name);
  if (written.off) {
    door.reset();
  } else if (written.map == nullptr) {
    listenings.add_default(name, door->listen.front());
  } else {
    MapReader map(*written.map, name, doors.problems());
    read_common(map, name, folder, *door, listenings);
    read_more(map, *door);
    map.finish();
  }
}

}  // namespace

DoorsConfig read_doors(const policy::yaml::Node& node, const std::filesystem::path& folder, Problems& problems) {
  DoorsConfig doors = DoorsConfig::defaults();
  Listenings listenings;
  MapReader map(node, "doors", problems);
  read_door(map, "http", folder, doors.http, listenings);
  read_door(map, "rls", folder, doors.rls, listenings);
  read_door(map, "resp", folder, doors.resp, listenings);
  read_door(map, "admin", folder, doors.admin, listenings);
  map.finish();
  listenings.report_overlaps(problems);
  if (!doors.http && !doors.rls && !doors.resp && !doors.admin) {
    problems.error(node.at, "every door is off: nobody could ask");
  }
  return doors;
}

}  // namespace weir::server
