#include "server/store_access.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "server/token_file.h"

namespace weir::server {
namespace {

using Options = store::redis::ServerConnection::Options;

constexpr auto client_name = "weir";

std::string text_of(const std::optional<std::filesystem::path>& path) {
  return path ? path->string() : std::string();
}

Result<StoreAccess::Login> read_login(std::string user, const std::optional<std::filesystem::path>& file) {
  if (!file) return StoreAccess::Login{std::move(user), {}};
  auto password = read_password(*file);
  if (!password) return tl::unexpected(password.error());
  return StoreAccess::Login{std::move(user), *std::move(password)};
}

Options options_for(const StoreAccess& access, const StoreAccess::Login& login, const RedisConfig& redis,
                    const net::Endpoint& endpoint) {
  Options options;
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
    auto tls =
        net::TlsClientContext::load({text_of(redis.tls.ca), text_of(redis.tls.certificate), text_of(redis.tls.key)});
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

Options server_options(const RedisConfig& redis, const StoreAccess& access, const net::Endpoint& endpoint) {
  Options options = options_for(access, access.servers, redis, endpoint);
  options.database = redis.urls.front().database;
  return options;
}

Options sentinel_options(const RedisConfig& redis, const StoreAccess& access, const net::Endpoint& endpoint) {
  return options_for(access, access.sentinels, redis, endpoint);
}

}  // namespace weir::server
