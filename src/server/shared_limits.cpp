#include "server/shared_limits.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "server/secrets.h"

namespace weir::server {
namespace {

using ConnectOptions = store::redis::ServerConnection::Options;

constexpr auto client_name = "weir";

std::string text_of_path(const std::optional<std::filesystem::path>& path) {
  return path ? path->string() : std::string();
}

Result<StoreAccess::Login> read_login(std::string user, const std::optional<std::filesystem::path>& file) {
  if (!file) return StoreAccess::Login{std::move(user), {}};
  auto password = read_password(*file);
  if (!password) return tl::unexpected(password.error());
  return StoreAccess::Login{std::move(user), *std::move(password)};
}

ConnectOptions options_for(const StoreAccess& access, const StoreAccess::Login& login, const RedisConfig& redis,
                           const net::Endpoint& endpoint) {
  ConnectOptions options;
  options.endpoint = endpoint;
  options.user = login.user;
  options.password = login.password;
  options.tls = access.tls;
  options.server_name = redis.tls.server_name;
  options.client_name = client_name;
  return options;
}

}  // namespace

Result<StoreAccess> open_store_access(const RedisConfig& redis) {
  StoreAccess access;
  auto servers = read_login(redis.user, redis.password_file);
  if (!servers) return tl::unexpected(servers.error());
  const store::redis::Url& url = redis.urls.front();
  access.servers = url.password.empty() ? *std::move(servers) : StoreAccess::Login{url.user, url.password};
  if (redis.sentinel) {
    auto sentinels = read_login(redis.sentinel->user, redis.sentinel->password_file);
    if (!sentinels) return tl::unexpected(sentinels.error());
    access.sentinels = *std::move(sentinels);
  }
  if (redis.with_tls()) {
    auto tls = net::TlsClientContext::load(
        {text_of_path(redis.tls.ca), text_of_path(redis.tls.certificate), text_of_path(redis.tls.key)});
    if (!tls) return tl::unexpected(tls.error());
    access.tls = *std::move(tls);
  }
  if (redis.key_secret_file) {
    auto secret = read_token(*redis.key_secret_file);
    if (!secret) return tl::unexpected(secret.error());
    access.key_secret = *std::move(secret);
  }
  return access;
}

ConnectOptions server_options(const RedisConfig& redis, const StoreAccess& access, const net::Endpoint& endpoint) {
  ConnectOptions options = options_for(access, access.servers, redis, endpoint);
  options.database = redis.urls.front().database;
  return options;
}

ConnectOptions sentinel_options(const RedisConfig& redis, const StoreAccess& access, const net::Endpoint& endpoint) {
  return options_for(access, access.sentinels, redis, endpoint);
}

void StoreLog::write(store::redis::Severity severity, const std::string& line) {
  const std::lock_guard guard(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto is_this = [&](const Written& written) { return written.line == line && now - written.at < interval; };
  if (std::ranges::any_of(written_, is_this)) return;
  written_[next_++ % written_.size()] = {line, now};
  if (severity == store::redis::Severity::info) {
    log_.info(line);
  } else {
    log_.warning(line);
  }
}

Result<SharedLimits> open_shared_limits(const RedisConfig& redis, const std::shared_ptr<StoreLog>& log) {
  auto access = open_store_access(redis);
  if (!access) return tl::unexpected(access.error());
  SharedLimits shared;
  shared.keys = std::make_shared<store::SharedKeys>(redis.prefix, access->key_secret);
  store::redis::RedisOptions& options = shared.options;
  std::vector<net::Endpoint> endpoints;
  for (const store::redis::Url& url : redis.urls) endpoints.push_back(url.endpoint);
  if (redis.sentinel) {
    options.sentinel = store::redis::SentinelOptions{.servers = std::move(endpoints),
                                                     .master = redis.sentinel->master,
                                                     .user = access->sentinels.user,
                                                     .password = access->sentinels.password,
                                                     .tls = access->tls};
  } else {
    options.servers = std::move(endpoints);
  }
  options.user = access->servers.user;
  options.password = access->servers.password;
  options.database = redis.urls.front().database;
  options.tls = access->tls;
  options.server_name = redis.tls.server_name;
  options.timeout = redis.timeout;
  options.log = [log](store::redis::Severity severity, const std::string& line) { log->write(severity, line); };
  return shared;
}

}  // namespace weir::server
