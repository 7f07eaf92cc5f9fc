#include "server/config.h"

#include <algorithm>

#include <fmt/core.h>

namespace weir::server {
namespace {

// A relative path would depend on where the process was started.
bool is_rooted(const std::string& path) {
  return path.starts_with('/');
}

std::filesystem::path default_state_directory(const Environment& environment) {
  const std::string first = environment.state_directory.substr(0, environment.state_directory.find(':'));
  if (is_rooted(first)) return first;
  if (is_rooted(environment.xdg_state_home)) return std::filesystem::path(environment.xdg_state_home) / "weir";
  if (is_rooted(environment.home)) return std::filesystem::path(environment.home) / ".local/state/weir";
  return {};
}

}  // namespace

ListenerConfig* Config::listener(std::string_view name) {
  const auto found = std::ranges::find(listeners, name, &Listener::name);
  return found == listeners.end() || !found->config ? nullptr : &*found->config;
}

const ListenerConfig* Config::listener(std::string_view name) const {
  const auto found = std::ranges::find(listeners, name, &Listener::name);
  return found == listeners.end() || !found->config ? nullptr : &*found->config;
}

Config default_config(const Environment& environment) {
  Config config;
  config.state.directory = default_state_directory(environment);
  return config;
}

std::string shown(const store::redis::Url& url) {
  const std::string user =
      url.user.empty() && url.password.empty() ? "" : url.user + (url.password.empty() ? "@" : ":*****@");
  if (url.endpoint.unix_socket()) return fmt::format("unix://{}{}?db={}", user, url.endpoint.path, url.database);
  return fmt::format("{}://{}{}/{}", url.tls ? "rediss" : "redis", user, url.endpoint.text(), url.database);
}

}  // namespace weir::server
