#include "server/config.h"

#include <array>
#include <utility>

namespace weir::server {
namespace {

template <class Door>
Door on_loopback(std::string_view address) {
  Door door;
  door.listen.push_back(net::Address::parse(address).value());
  return door;
}

// A relative path would depend on where the process was started.
bool is_rooted(const std::string& path) {
  return path.starts_with('/');
}

std::filesystem::path state_directory(const Environment& environment) {
  const std::string first = environment.state_directory.substr(0, environment.state_directory.find(':'));
  if (is_rooted(first)) return first;
  if (is_rooted(environment.xdg_state_home)) return std::filesystem::path(environment.xdg_state_home) / "weir";
  if (is_rooted(environment.home)) return std::filesystem::path(environment.home) / ".local/state/weir";
  return {};
}

}  // namespace

std::string_view name_of(AuthHeaders headers) noexcept {
  constexpr std::array<std::string_view, 4> names{"auto", "original", "forwarded", "path"};
  return names[static_cast<std::size_t>(headers)];
}

std::string_view name_of(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 4> names{"error", "warning", "info", "debug"};
  return names[static_cast<std::size_t>(level)];
}

DoorsConfig DoorsConfig::defaults() {
  DoorsConfig doors;
  doors.http = on_loopback<HttpDoorConfig>("127.0.0.1:8080");
  doors.rls = on_loopback<RlsDoorConfig>("127.0.0.1:8081");
  doors.resp = on_loopback<RespDoorConfig>("127.0.0.1:6390");
  doors.admin = on_loopback<AdminDoorConfig>("127.0.0.1:8089");
  return doors;
}

Config default_config(const Environment& environment) {
  Config config;
  config.state.directory = state_directory(environment);
  return config;
}

}  // namespace weir::server
