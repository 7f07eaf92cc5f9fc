#include "server/listeners.h"

#include <sys/socket.h>

#include <algorithm>

#include <fmt/core.h>
#include <fmt/format.h>

#include "server/config_values.h"

namespace weir::server {
namespace {

// `[::]` takes IPv4 as well.
bool takes_all_of(const net::Address& address, const net::Address& other) {
  const std::string host = address.host();
  return host == "::" || (host == "0.0.0.0" && other.family() == AF_INET);
}

bool overlap(const net::Address& a, const net::Address& b) {
  if (a.unix_socket() || b.unix_socket()) return a.text() == b.text();
  if (a.port() != b.port() || a.port() == 0) return false;  // the system chooses a port of its own for each 0
  return a.text() == b.text() || takes_all_of(a, b) || takes_all_of(b, a);
}

Result<void> check_guard(const std::string& flag, const ListenerConfig& listener) {
  const net::Address& address = listener.listen.front();
  if (address.unix_socket() && listener.tls) {
    return failure(flag,
                   address.text() + ": a unix socket has no TLS, and weir.yaml gives this listener a certificate");
  }
  const bool has_guard = listener.exposed || listener.token_file || (listener.tls && !listener.tls->client_ca.empty());
  if (address.local() || has_guard) return {};
  return failure(flag, address.text() +
                           ": others can reach this address: add --exposed if that is meant, or give the listener a "
                           "token_file or client certificates in weir.yaml");
}

Result<void> place(const std::string& text, bool exposed, Listener& listener) {
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

std::vector<std::pair<PlacedAddress, PlacedAddress>> overlaps(const std::vector<PlacedAddress>& all) {
  std::vector<std::pair<PlacedAddress, PlacedAddress>> found;
  for (auto later = all.begin(); later != all.end(); ++later) {
    for (auto earlier = all.begin(); earlier != later; ++earlier) {
      if (overlap(earlier->address, later->address)) found.emplace_back(*earlier, *later);
    }
  }
  return found;
}

Result<void> apply(const ListenerFlags& flags, Config& config) {
  std::vector<PlacedAddress> all;
  std::vector<std::string> names;
  for (Listener& listener : config.listeners) {
    names.push_back("--" + listener.name);
    if (const auto flag = flags.listen.find(listener.name); flag != flags.listen.end()) {
      if (auto placed = place(flag->second, flags.exposed, listener); !placed) return placed;
    }
    if (!listener.config) continue;
    for (const net::Address& address : listener.config->listen) all.push_back({listener.name, address});
  }
  if (const auto two = overlaps(all); !two.empty()) {
    const auto& [first, second] = two.front();
    return failure("--" + first.listener,
                   fmt::format("{}: the {} listener has {}: choose another address, or --{} off", first.address.text(),
                               second.listener, second.address.text(), second.listener));
  }
  if (all.empty()) return failure(fmt::format("{}", fmt::join(names, ", ")), "every listener is off: nobody could ask");
  return {};
}

}  // namespace weir::server
