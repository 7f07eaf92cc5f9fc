#include "server/store_config.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include "policy/words.h"

namespace weir::server {
namespace {

void add_who(const RedisConfig& redis, std::vector<std::string>& parts) {
  const bool in_url = !redis.urls.front().password.empty() || !redis.urls.front().user.empty();
  if (!in_url && !redis.user.empty()) parts.push_back("user " + redis.user);
  if (redis.password_file) parts.push_back("password from " + redis.password_file->string());
}

void add_tls(const RedisConfig& redis, std::vector<std::string>& parts) {
  if (!redis.with_tls()) return;
  parts.push_back(redis.tls.certificate ? "TLS with a certificate" : "TLS");
  if (redis.tls.ca) parts.push_back("authorities from " + redis.tls.ca->string());
  if (!redis.tls.server_name.empty()) parts.push_back("server name " + redis.tls.server_name);
}

std::string describe_redis(const RedisConfig& redis) {
  std::vector<std::string> parts;
  for (const store::redis::Url& url : redis.urls) parts.push_back(shown(url));
  if (redis.sentinel) parts.push_back("sentinels of " + redis.sentinel->master);
  add_who(redis, parts);
  add_tls(redis, parts);
  parts.push_back(fmt::format("keys {}*{}", redis.prefix, redis.key_secret_file ? ", hashed" : ""));
  parts.push_back(fmt::format("up to {} a decision", policy::duration_text(redis.timeout)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string shown(const store::redis::Url& url) {
  const std::string who =
      url.user.empty() && url.password.empty() ? "" : url.user + (url.password.empty() ? "@" : ":*****@");
  if (url.endpoint.unix_socket()) return fmt::format("unix://{}{}?db={}", who, url.endpoint.path, url.database);
  return fmt::format("{}://{}{}/{}", url.tls ? "rediss" : "redis", who, url.endpoint.text(), url.database);
}

std::string describe(const StoreConfig& store) {
  return store.redis ? describe_redis(*store.redis) : "this process";
}

}  // namespace weir::server
