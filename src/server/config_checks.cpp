// What is wrong between fields of weir.yaml: an address that others can reach without proof of who they are, one
// address for two listeners, two passwords for one server, TLS files without TLS, servers that cannot belong together.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "server/config_fields.h"

namespace weir::server {
namespace {

using store::redis::Url;
using text::Node;
using text::Problems;

// None also if it is written without a value, which has been reported.
const Node* given(const Node& node, std::string_view field) {
  const Node* found = node.find(field);
  return found == nullptr || found->is_null() ? nullptr : found;
}

// Guards count as far as they are written, be it right or wrong: one mistake is reported once.
void check_address(const PlacedAddress& placed, const Node& node, bool exposed, Problems& problems) {
  const std::string text = text::in_quotes(placed.address.text());
  const Node* tls = given(node, "tls");
  const bool has_token = given(node, "token_file") != nullptr;
  if (placed.address.unix_socket() && tls != nullptr) {
    problems.error(*placed.at,
                   fmt::format("listen {}: a unix socket has no TLS: leave out the one or the other", text));
  }
  if (placed.address.local()) return;
  const bool has_client_ca = tls != nullptr && tls->find("client_ca") != nullptr;
  if (!has_client_ca && !has_token && !exposed) {
    problems.error(*placed.at, fmt::format("listen {}: others can reach this address: add client_ca to tls (client "
                                           "certificates), a token_file, or exposed: true if that is meant",
                                           text));
  } else if (has_token && tls == nullptr) {
    problems.warning(*placed.at, text::no_rule,
                     fmt::format("listen {}: the token is sent in the clear: add tls", text));
  }
}

void check_unix_mode(const Node& node, Problems& problems) {
  const auto is_unix = [](const Node& address) { return address.text.starts_with("unix:"); };
  const Node* mode = given(node, "unix_mode");
  const Node* listen = given(node, "listen");
  const bool any_unix = listen != nullptr && (is_unix(*listen) || std::ranges::any_of(listen->items, is_unix));
  if (mode != nullptr && !any_unix) {
    problems.error(mode->at, "unix_mode is for unix sockets, and listen has none");
  }
}

void report_overlap(const PlacedAddress& placed, const PlacedAddress& other, Problems& problems) {
  const std::string text = text::in_quotes(placed.address.text());
  if (placed.listener == other.listener) {
    problems.error(*placed.at, fmt::format("listen {}: this listener has {} already", text, other.address.text()));
  } else {
    problems.error(*placed.at, fmt::format("listen {}: the {} listener has {}{}: choose another address", text,
                                           other.listener, other.address.text(), other.at ? "" : " by default"));
  }
}

// With sentinels there are two kinds of servers, and a URL would not say which of them its password is for.
void check_sentinel_url(const Node& sentinel, const Url& url, Problems& problems) {
  if (url.endpoint.unix_socket()) {
    problems.error(sentinel.at, "with sentinel, urls say where the sentinels are: addresses, not a unix socket");
  }
  if (!url.user.empty() || !url.password.empty()) {
    problems.error(sentinel.at,
                   "with sentinel, urls have no user or password: write those of the servers in user and "
                   "password_file, those of the sentinels in sentinel");
  }
}

}  // namespace

void check_listener(const Node& node, Reading& reading, const Parts& parts) {
  check_unix_mode(node, reading.problems);
  for (const PlacedAddress& placed : reading.addresses) {
    if (placed.listener != parts.listener->name) continue;
    check_address(placed, node, parts.listener->config->exposed, reading.problems);
  }
}

void check_listeners(const Node& node, Reading& reading, const Parts& parts) {
  std::vector<PlacedAddress> all;
  for (Listener& listener : parts.config.listeners) {
    if (!listener.config) continue;
    const Node* written = node.find(listener.name);
    if (written != nullptr && given(*written, "listen") != nullptr) {
      std::ranges::copy_if(reading.addresses, std::back_inserter(all),
                           [&](const PlacedAddress& placed) { return placed.listener == listener.name; });
    } else {
      all.push_back({listener.name, listener.config->listen.front()});
    }
  }
  for (const auto& [earlier, later] : overlaps(all)) {
    // Defaults do not overlap, so that one of the two is written.
    if (later.at) {
      report_overlap(later, earlier, reading.problems);
    } else {
      report_overlap(earlier, later, reading.problems);
    }
  }
  const auto is_on = [](const Listener& listener) { return listener.config.has_value(); };
  if (std::ranges::none_of(parts.config.listeners, is_on)) {
    reading.problems.error(node.at, "every listener is off: nobody could ask");
  }
}

// A file that names a directory wants its state kept there, unless it says otherwise.
void check_state(const Node& node, Reading& reading, const Parts& parts) {
  StateConfig& state = parts.config.state;
  state.is_named = node.find("directory") != nullptr;
  if (state.is_named && node.find("snapshot") == nullptr) state.snapshot_every = std::chrono::minutes(1);
  if (state.snapshot_every && state.directory.empty() && !reading.problems.any_error()) {
    reading.problems.error(node.at, "snapshot: there is no state directory to keep it in: name one in directory");
  }
}

void check_store(const Node& node, Reading& reading, const Parts& /*parts*/) {
  const Node* redis = node.find("redis");
  if (node.find("local") != nullptr && redis != nullptr) {
    reading.problems.error(redis->at, "store is local or redis, not both: leave out the one or the other");
  }
  if (node.is_map() && node.members.empty()) {
    reading.problems.error(node.at, "store says nothing: write local, or redis: { urls: [redis://127.0.0.1:6379/0] }");
  }
}

void check_redis(const Node& node, Reading& reading, const Parts& parts) {
  const RedisConfig& redis = *parts.config.store.redis;
  if (!node.is_map() || redis.urls.empty()) return;
  Problems& problems = reading.problems;
  const Url& url = redis.urls.front();
  const Node* user = node.find("user");
  const Node* password = node.find("password_file");
  const Node* tls = node.find("tls");
  if (user != nullptr && (!url.user.empty() || !url.password.empty())) {
    problems.error(user->at, "the URL has a user or a password already: leave out the one or the other");
  } else if (user != nullptr && password == nullptr) {
    problems.error(user->at, "user needs a password: name the file it is in, in password_file");
  }
  if (password != nullptr && !url.password.empty()) {
    problems.error(password->at, "the URL has a password already: leave out the one or the other");
  }
  const Node* sentinel = node.find("sentinel");
  if (sentinel != nullptr) check_sentinel_url(*sentinel, url, problems);
  if (tls != nullptr && !url.tls) problems.error(tls->at, "tls is for URLs that begin with rediss://");
}

void check_sentinel(const Node& node, Reading& reading, const Parts& /*parts*/) {
  if (node.is_map() && node.find("user") != nullptr && node.find("password_file") == nullptr) {
    reading.problems.error(node.find("user")->at, "user needs a password: name the file it is in, in password_file");
  }
}

void check_redis_tls(const Node& node, Reading& reading, const Parts& /*parts*/) {
  if (node.is_map() && (node.find("certificate") == nullptr) != (node.find("key") == nullptr)) {
    reading.problems.error(node.at, "certificate and key go together: write both, or neither");
  }
}

void check_url(const Url& url, text::Mark at, Reading& reading, const RedisConfig& redis) {
  const auto report = [&](std::string_view what) {
    reading.problems.error(at, fmt::format("urls {}: {}", text::in_quotes(shown(url)), what));
  };
  const Url& first = redis.urls.front();
  if (std::ranges::any_of(redis.urls, [&](const Url& other) { return other.endpoint == url.endpoint; })) {
    report("is here twice");
  } else if (first.endpoint.unix_socket() || url.endpoint.unix_socket()) {
    report("a unix socket is one server: write it alone");
  } else if (url.tls != first.tls) {
    report("differs from the first in its scheme: write redis:// for all or rediss:// for all");
  } else if (url.database != first.database) {
    report("differs from the first in its database: all nodes keep to one");
  } else if (url.user != first.user || url.password != first.password) {
    report("differs from the first in its user or password: write them once, in user and password_file");
  }
}

}  // namespace weir::server
