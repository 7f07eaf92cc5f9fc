#include "server/listeners.h"

#include <sys/socket.h>

#include <algorithm>

#include <fmt/core.h>
#include <fmt/format.h>

#include "server/config_values.h"

namespace weir::server {
namespace {

// True if `address` also accepts connections to `other`. `[::]` accepts IPv4 too.
bool includes(const net::Address& address, const net::Address& other) {
  const std::string host = address.host();
  return host == "::" || (host == "0.0.0.0" && other.family() == AF_INET);
}

bool overlap(const net::Address& a, const net::Address& b) {
  if (a.unix_socket() || b.unix_socket()) return a.text() == b.text();
  if (a.port() != b.port() || a.port() == 0) return false;  // for port 0 the system chooses a free port each time
  return a.text() == b.text() || includes(a, b) || includes(b, a);
}

Result<void> check_guard(const std::string& flag, const ListenerConfig& listener) {
  const net::Address& address = listener.listen.front();
  if (address.unix_socket() && listener.tls) {
    return failure(
        flag,
        address.text() + ": TLS is not available on a unix socket, and weir.yaml sets a certificate for this listener");
  }
  const bool has_guard = listener.exposed || listener.token_file || (listener.tls && !listener.tls->client_ca.empty());
  if (address.local() || has_guard) return {};
  return failure(flag,
                 address.text() +
                     ": this address is reachable from other hosts; add --exposed to allow unauthenticated access, "
                     "or set a token_file or client certificates in weir.yaml");
}

Result<void> apply_flag(const std::string& text, bool exposed, Listener& listener) {
  listener.origin = "--" + listener.name;
  if (text == "off") {
    listener.config.reset();
    return {};
  }
  const auto address = parse_listen(text);
  if (!address) return failure(listener.origin, address.error().message());
  if (!listener.config) listener.config.emplace();
  listener.config->listen = {*address};
  listener.config->exposed = listener.config->exposed || (exposed && !address->local());
  return check_guard(listener.origin, *listener.config);
}

}  // namespace

std::vector<std::pair<ListenerAddress, ListenerAddress>> overlaps(const std::vector<ListenerAddress>& all) {
  std::vector<std::pair<ListenerAddress, ListenerAddress>> found;
  for (auto later = all.begin(); later != all.end(); ++later) {
    for (auto earlier = all.begin(); earlier != later; ++earlier) {
      if (overlap(earlier->address, later->address)) found.emplace_back(*earlier, *later);
    }
  }
  return found;
}

Result<void> apply(const ListenerFlags& flags, Config& config) {
  std::vector<ListenerAddress> all;
  std::vector<std::string> names;
  for (Listener& listener : config.listeners) {
    names.push_back("--" + listener.name);
    if (const auto flag = flags.listen.find(listener.name); flag != flags.listen.end()) {
      if (auto applied = apply_flag(flag->second, flags.exposed, listener); !applied) return applied;
    }
    if (!listener.config) continue;
    for (const net::Address& address : listener.config->listen) all.push_back({listener.name, address});
  }
  if (const auto two = overlaps(all); !two.empty()) {
    const auto& [first, second] = two.front();
    return failure("--" + first.listener,
                   fmt::format("{}: the {} listener already uses {}; choose another address, or --{} off",
                               first.address.text(), second.listener, second.address.text(), second.listener));
  }
  if (all.empty())
    return failure(fmt::format("{}", fmt::join(names, ", ")), "every listener is off; enable at least one");
  return {};
}

}  // namespace weir::server
