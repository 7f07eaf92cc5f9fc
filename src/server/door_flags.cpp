#include "server/door_flags.h"

#include <string_view>

#include <fmt/core.h>

#include "server/config_overlap.h"
#include "server/config_scalar.h"

namespace weir::server {
namespace {

Result<void> check(const std::string& flag, const DoorConfig& door) {
  const net::Address& address = door.listen.front();
  if (address.unix_socket() && door.tls) {
    return failure(flag, address.text() + ": a unix socket has no TLS, and weir.yaml gives this door a certificate");
  }
  const bool has_guard = door.exposed || door.token_file || (door.tls && !door.tls->client_ca.empty());
  if (address.local() || has_guard) return {};
  return failure(flag, address.text() +
                           ": others can reach this address: add --exposed if that is meant, or give the door a "
                           "token_file or client certificates in weir.yaml");
}

template <class Door>
Result<void> place(std::string_view name, const std::optional<std::string>& flag, bool exposed,
                   const std::optional<Door>& usual, std::optional<Door>& door, std::string& origin) {
  if (!flag) return {};
  origin = fmt::format("--{}", name);
  if (*flag == "off") {
    door.reset();
    return {};
  }
  const auto address = parse_listen(*flag);
  if (!address) return failure(origin, address.error().message());
  if (!door) door = usual;
  door->listen = {*address};
  door->exposed = door->exposed || (exposed && !address->local());
  return check(origin, *door);
}

}  // namespace

Result<void> apply(const DoorFlags& flags, Config& config) {
  const DoorsConfig usual = DoorsConfig::defaults();
  DoorsConfig& doors = config.doors;
  Origins& origins = config.origins;
  auto placed = place("http", flags.http, flags.exposed, usual.http, doors.http, origins.http);
  if (placed) placed = place("rls", flags.rls, flags.exposed, usual.rls, doors.rls, origins.rls);
  if (placed) placed = place("resp", flags.resp, flags.exposed, usual.resp, doors.resp, origins.resp);
  if (placed) placed = place("admin", flags.admin, flags.exposed, usual.admin, doors.admin, origins.admin);
  if (!placed) return placed;
  if (const auto two = first_overlap(doors)) {
    return failure(fmt::format("--{}", two->first),
                   fmt::format("{}: the {} door has {}: choose another address, or --{} off", two->first_address.text(),
                               two->second, two->second_address.text(), two->second));
  }
  if (!doors.http && !doors.rls && !doors.resp && !doors.admin) {
    return failure("--http, --rls, --resp, --admin", "every door is off: nobody could ask");
  }
  return {};
}

}  // namespace weir::server
