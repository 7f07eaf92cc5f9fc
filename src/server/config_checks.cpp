// Validates rules that span several fields of weir.yaml: unauthenticated access from other hosts, one address for two
// listeners, two passwords for one server, TLS files without TLS, URLs that do not fit together.
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

// Returns null if the field is absent or has no value. A missing value has been reported already.
const Node* given(const Node& node, std::string_view field) {
  const Node* found = node.find(field);
  return found == nullptr || found->is_null() ? nullptr : found;
}

// A token or certificate counts as present even if its value is invalid, because that error is reported elsewhere.
void check_address(const ListenerAddress& listed, const Node& node, bool exposed, Problems& problems) {
  const std::string text = text::in_quotes(listed.address.text());
  const Node* tls = given(node, "tls");
  const bool has_token = given(node, "token_file") != nullptr;
  if (listed.address.unix_socket() && tls != nullptr) {
    problems.error(*listed.at,
                   fmt::format("listen {}: TLS is not available on a unix socket; remove one of the two", text));
  }
  if (listed.address.local()) return;
  const bool has_client_ca = tls != nullptr && tls->find("client_ca") != nullptr;
  if (!has_client_ca && !has_token && !exposed) {
    problems.error(*listed.at,
                   fmt::format("listen {}: this address is reachable from other hosts; add client_ca to tls or a "
                               "token_file, or set exposed: true to allow unauthenticated access",
                               text));
  } else if (has_token && tls == nullptr) {
    problems.warning(*listed.at, text::no_rule,
                     fmt::format("listen {}: the token is sent in clear text; add tls", text));
  }
}

void check_unix_mode(const Node& node, Problems& problems) {
  const auto is_unix = [](const Node& address) { return address.text.starts_with("unix:"); };
  const Node* mode = given(node, "unix_mode");
  const Node* listen = given(node, "listen");
  const bool any_unix = listen != nullptr && (is_unix(*listen) || std::ranges::any_of(listen->items, is_unix));
  if (mode != nullptr && !any_unix) {
    problems.error(mode->at, "unix_mode applies to unix sockets only, and listen has none");
  }
}

void report_overlap(const ListenerAddress& listed, const ListenerAddress& other, Problems& problems) {
  const std::string text = text::in_quotes(listed.address.text());
  if (listed.listener == other.listener) {
    problems.error(*listed.at, fmt::format("listen {}: duplicate address: this listener already uses {}", text,
                                           other.address.text()));
  } else {
    problems.error(*listed.at, fmt::format("listen {}: the {} listener already uses {}{}; choose another address", text,
                                           other.listener, other.address.text(), other.at ? "" : " by default"));
  }
}

// A password in the URL is rejected: it could be meant for the sentinels or for the servers.
void check_sentinel_url(const Node& sentinel, const Url& url, Problems& problems) {
  if (url.endpoint.unix_socket()) {
    problems.error(sentinel.at, "with sentinel, urls must be addresses of sentinels, not a unix socket");
  }
  if (!url.user.empty() || !url.password.empty()) {
    problems.error(sentinel.at,
                   "with sentinel, urls must not contain a user or password; set those of the servers in user and "
                   "password_file, those of the sentinels in sentinel");
  }
}

}  // namespace

void check_listener(const Node& node, Reading& reading, const Parts& parts) {
  check_unix_mode(node, reading.problems);
  for (const ListenerAddress& listed : reading.addresses) {
    if (listed.listener != parts.listener->name) continue;
    check_address(listed, node, parts.listener->config->exposed, reading.problems);
  }
}

void check_listeners(const Node& node, Reading& reading, const Parts& parts) {
  std::vector<ListenerAddress> all;
  for (Listener& listener : parts.config.listeners) {
    if (!listener.config) continue;
    const Node* written = node.find(listener.name);
    if (written != nullptr && given(*written, "listen") != nullptr) {
      std::ranges::copy_if(reading.addresses, std::back_inserter(all),
                           [&](const ListenerAddress& listed) { return listed.listener == listener.name; });
    } else {
      all.push_back({listener.name, listener.config->listen.front()});
    }
  }
  for (const auto& [earlier, later] : overlaps(all)) {
    // Defaults do not overlap, so at least one of the two addresses is in the file.
    if (later.at) {
      report_overlap(later, earlier, reading.problems);
    } else {
      report_overlap(earlier, later, reading.problems);
    }
  }
  const auto is_on = [](const Listener& listener) { return listener.config.has_value(); };
  if (std::ranges::none_of(parts.config.listeners, is_on)) {
    reading.problems.error(node.at, "every listener is off; enable at least one");
  }
}

// Snapshots are on by default if the file sets a directory.
void check_state(const Node& node, Reading& reading, const Parts& parts) {
  StateConfig& state = parts.config.state;
  state.is_named = node.find("directory") != nullptr;
  if (state.is_named && node.find("snapshot") == nullptr) state.snapshot_every = std::chrono::minutes(1);
  if (state.snapshot_every && state.directory.empty() && !reading.problems.any_error()) {
    reading.problems.error(node.at, "snapshot: missing state directory; set directory");
  }
}

void check_store(const Node& node, Reading& reading, const Parts& /*parts*/) {
  const Node* redis = node.find("redis");
  if (node.find("local") != nullptr && redis != nullptr) {
    reading.problems.error(redis->at, "store is local or redis, not both; remove one of the two");
  }
  if (node.is_map() && node.members.empty()) {
    reading.problems.error(node.at, "store is empty; write local, or redis: { urls: [redis://127.0.0.1:6379/0] }");
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
    problems.error(user->at, "the URL already contains a user or password; remove one of the two");
  } else if (user != nullptr && password == nullptr) {
    problems.error(user->at, "missing password_file: user requires a password");
  }
  if (password != nullptr && !url.password.empty()) {
    problems.error(password->at, "the URL already contains a password; remove one of the two");
  }
  const Node* sentinel = node.find("sentinel");
  if (sentinel != nullptr) check_sentinel_url(*sentinel, url, problems);
  if (tls != nullptr && !url.tls) problems.error(tls->at, "tls requires URLs that begin with rediss://");
}

void check_sentinel(const Node& node, Reading& reading, const Parts& /*parts*/) {
  if (node.is_map() && node.find("user") != nullptr && node.find("password_file") == nullptr) {
    reading.problems.error(node.find("user")->at, "missing password_file: user requires a password");
  }
}

void check_redis_tls(const Node& node, Reading& reading, const Parts& /*parts*/) {
  if (node.is_map() && (node.find("certificate") == nullptr) != (node.find("key") == nullptr)) {
    reading.problems.error(node.at, "certificate and key must be set together");
  }
}

void check_url(const Url& url, text::Mark at, Reading& reading, const RedisConfig& redis) {
  const auto report = [&](std::string_view what) {
    reading.problems.error(at, fmt::format("urls {}: {}", text::in_quotes(shown(url)), what));
  };
  const Url& first = redis.urls.front();
  if (std::ranges::any_of(redis.urls, [&](const Url& other) { return other.endpoint == url.endpoint; })) {
    report("duplicate URL");
  } else if (first.endpoint.unix_socket() || url.endpoint.unix_socket()) {
    report("a unix socket must be the only URL");
  } else if (url.tls != first.tls) {
    report("scheme differs from the first URL; use redis:// for all or rediss:// for all");
  } else if (url.database != first.database) {
    report("database differs from the first URL; all nodes must use the same");
  } else if (url.user != first.user || url.password != first.password) {
    report("user or password differs from the first URL; set them once, in user and password_file");
  }
}

}  // namespace weir::server
