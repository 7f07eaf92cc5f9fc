#include "server/config_store.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "policy/map_reader.h"
#include "server/config_values.h"

namespace weir::server {
namespace {

using policy::Form;
using policy::MapReader;
using policy::Problems;
using policy::yaml::Node;
using std::chrono::milliseconds;
using std::chrono::seconds;
using store::redis::Url;

constexpr TimeBounds timeout_bounds{.least = milliseconds(1), .most = seconds(10)};
constexpr std::size_t longest_prefix = 64;
constexpr std::size_t longest_word = 128;
constexpr std::string_view example = "urls: [redis://127.0.0.1:6379/0]";

bool is_visible(char c) noexcept {
  return c > ' ' && c < 0x7f;
}

Result<std::string> parse_prefix(std::string_view text) {
  const auto fits = [](char c) { return is_visible(c) && c != '{' && c != '}'; };
  if (text.empty() || text.size() > longest_prefix || !std::ranges::all_of(text, fits)) {
    return failure(
        policy::quoted(text),
        fmt::format("not a prefix of keys: 1 to {} visible characters without braces, like \"weir:\"", longest_prefix));
  }
  return std::string(text);
}

// A user of Redis, or the name of a master: whatever goes into a command as one word.
Result<std::string> parse_word(std::string_view text) {
  if (text.empty() || text.size() > longest_word || !std::ranges::all_of(text, is_visible)) {
    return failure(policy::quoted(text), fmt::format("not a name: 1 to {} visible characters", longest_word));
  }
  return std::string(text);
}

void read_word(MapReader& map, std::string_view field, std::string& value) {
  if (auto word = map.value(field, Form::text, parse_word)) value = std::move(word->value);
}

// What is right for one URL depends on the first.
void check_beside(const Url& first, const Url& url, policy::Mark at, Problems& problems) {
  const auto differ = [&](std::string_view in_what, std::string_view instead) {
    problems.error(
        at, fmt::format("urls {}: differs from the first in its {}: {}", policy::quoted(shown(url)), in_what, instead));
  };
  if (first.endpoint.unix_socket() || url.endpoint.unix_socket()) {
    problems.error(at, fmt::format("urls {}: a unix socket is one server: write it alone", policy::quoted(shown(url))));
  } else if (url.tls != first.tls) {
    differ("scheme", "write redis:// for all or rediss:// for all");
  } else if (url.database != first.database) {
    differ("database", "all nodes keep to one");
  } else if (url.user != first.user || url.password != first.password) {
    differ("user or password", "write them once, in user and password_file");
  }
}

void read_urls(const Node& node, std::vector<Url>& urls, Problems& problems) {
  read_one_or_more(node, "urls", problems, [&](const Node& one, std::string_view text) {
    auto url = store::redis::parse_url(text);
    if (!url) {
      return problems.error(one.at, fmt::format("urls {}: {}", policy::quoted(url.error().where), url.error().what));
    }
    const auto same = [&](const Url& other) { return other.endpoint == url->endpoint; };
    if (std::ranges::any_of(urls, same)) {
      return problems.error(one.at, fmt::format("urls {}: is here twice", policy::quoted(shown(*url))));
    }
    if (!urls.empty()) check_beside(urls.front(), *url, one.at, problems);
    urls.push_back(*std::move(url));
  });
}

SentinelConfig read_sentinel(const Node& node, const std::filesystem::path& folder, Problems& problems) {
  SentinelConfig sentinel;
  MapReader map(node, "sentinel", problems);
  (void)map.require("master", "master: mymaster");
  read_word(map, "master", sentinel.master);
  read_word(map, "user", sentinel.user);
  read_path(map, "password_file", folder, sentinel.password_file);
  map.finish();
  if (map.is_map() && node.find("user") != nullptr && node.find("password_file") == nullptr) {
    problems.error(node.find("user")->at, "user needs a password: name the file it is in, in password_file");
  }
  return sentinel;
}

RedisTlsConfig read_tls(const Node& node, const std::filesystem::path& folder, Problems& problems) {
  RedisTlsConfig tls;
  MapReader map(node, "tls", problems);
  read_path(map, "ca", folder, tls.ca);
  read_path(map, "certificate", folder, tls.certificate);
  read_path(map, "key", folder, tls.key);
  read_word(map, "server_name", tls.server_name);
  map.finish();
  if (map.is_map() && (node.find("certificate") == nullptr) != (node.find("key") == nullptr)) {
    problems.error(node.at, "certificate and key go together: write both, or neither");
  }
  return tls;
}

// With sentinels there are two kinds of servers, and a URL would not say whose password it has.
void check_sentinels(const Node& node, const Url& url, Problems& problems) {
  if (url.endpoint.unix_socket()) {
    problems.error(node.at, "with sentinel, urls say where the sentinels are: addresses, not a unix socket");
  }
  if (!url.user.empty() || !url.password.empty()) {
    problems.error(node.at,
                   "with sentinel, urls have no user or password: write those of the servers in user and "
                   "password_file, those of the sentinels in sentinel");
  }
}

// Between fields, each of which is right by itself.
void check_redis(const Node& node, const RedisConfig& redis, Problems& problems) {
  if (redis.urls.empty()) return;
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
  if (sentinel != nullptr) check_sentinels(*sentinel, url, problems);
  if (tls != nullptr && !url.tls) problems.error(tls->at, "tls is for URLs that begin with rediss://");
}

RedisConfig read_redis(const Node& node, const std::filesystem::path& folder, Problems& problems) {
  RedisConfig redis;
  MapReader map(node, "redis", problems);
  if (const Node* urls = map.require("urls", example)) read_urls(*urls, redis.urls, problems);
  if (const Node* sentinel = map.find("sentinel")) redis.sentinel = read_sentinel(*sentinel, folder, problems);
  read_word(map, "user", redis.user);
  read_path(map, "password_file", folder, redis.password_file);
  map.refuse("password", "write it into a file, and name that in password_file");
  if (const Node* tls = map.find("tls")) redis.tls = read_tls(*tls, folder, problems);
  if (auto prefix = map.value("prefix", Form::text, parse_prefix)) redis.prefix = std::move(prefix->value);
  read_path(map, "key_secret_file", folder, redis.key_secret_file);
  read_time(map, "timeout", timeout_bounds, redis.timeout);
  map.finish();
  if (map.is_map()) check_redis(node, redis, problems);
  return redis;
}

}  // namespace

StoreConfig read_store(const Node& node, const std::filesystem::path& folder, Problems& problems) {
  StoreConfig store;
  if (node.is_scalar()) {
    if (node.text != "local") {
      problems.error(node.at,
                     fmt::format("store {}: write local, or redis: {{ {} }}", policy::quoted(node.text), example));
    }
    return store;
  }
  MapReader map(node, "store", problems);
  const Node* local = map.find("local");
  const Node* redis = map.find("redis");
  if (local != nullptr) MapReader(*local, "local", problems).finish();
  if (redis != nullptr) store.redis = read_redis(*redis, folder, problems);
  if (local != nullptr && redis != nullptr) {
    problems.error(redis->at, "store is local or redis, not both: leave out the one or the other");
  }
  if (map.is_map() && node.members.empty()) {
    problems.error(node.at, fmt::format("store says nothing: write local, or redis: {{ {} }}", example));
  }
  map.finish();
  return store;
}

}  // namespace weir::server
